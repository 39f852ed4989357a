// Colour maps as polynomials: fits of degree 6 to matplotlib's (CC0), by Matt Zucker,
// https://www.shadertoy.com/view/WlfXRN, and A. Mikhailov's turbo (Apache 2.0). Shaders get them
// from here (shaders/embed_colours.cmake), so this file has numbers alone.
#pragma once
#include <array>

namespace firn {

/// Polynomials for red, green and blue, coefficients from the lowest power on, of a value from 0 to
/// 1; results are clamped to 0 to 1.
using ColourFit = std::array<std::array<float, 3>, 7>;
inline constexpr ColourFit kViridisFit{{{0.27772733f, 0.00540734f, 0.33409981f},
                                        {0.10509304f, 1.40461353f, 1.38459016f},
                                        {-0.33086183f, 0.21484756f, 0.09509516f},
                                        {-4.63423050f, -5.79910097f, -19.33244096f},
                                        {6.22826994f, 14.17993337f, 56.69055260f},
                                        {4.77638500f, -13.74514538f, -65.35303263f},
                                        {-5.43545586f, 4.64585261f, 26.31243525f}}};
inline constexpr ColourFit kMagmaFit{{{-0.00213649f, -0.00074966f, -0.00538613f},
                                      {0.25166054f, 0.67752324f, 2.49402660f},
                                      {8.35371728f, -3.57771951f, 0.31446790f},
                                      {-27.66873309f, 14.26473078f, -13.64921319f},
                                      {52.17613981f, -27.94360607f, 12.94416944f},
                                      {-50.76852536f, 29.04658282f, 4.23415299f},
                                      {18.65570507f, -11.48977352f, -5.60196151f}}};
inline constexpr ColourFit kInfernoFit{{{0.00021894f, 0.00165100f, -0.01948090f},
                                        {0.10651342f, 0.56395644f, 3.93271239f},
                                        {11.60249308f, -3.97285397f, -15.94239411f},
                                        {-41.70399613f, 17.43639888f, 44.35414520f},
                                        {77.16293570f, -33.40235894f, -81.80730926f},
                                        {-71.31942824f, 32.62606426f, 73.20951986f},
                                        {25.13112622f, -12.24266895f, -23.07032500f}}};
inline constexpr ColourFit kPlasmaFit{{{0.05873234f, 0.02333671f, 0.54334018f},
                                       {2.17651463f, 0.23838342f, 0.75396046f},
                                       {-2.68946048f, -7.45585114f, 3.11079994f},
                                       {6.13034835f, 42.34618815f, -28.51885465f},
                                       {-11.10743619f, -82.66631109f, 60.13984767f},
                                       {10.02306558f, 71.41361770f, -54.07218656f},
                                       {-3.65871384f, -22.93153465f, 18.19190779f}}};
inline constexpr ColourFit kTurboFit{{{0.13572138f, 0.09140261f, 0.10667330f},
                                      {4.61539260f, 2.19418839f, 12.64194608f},
                                      {-42.66032258f, 4.84296658f, -60.58204836f},
                                      {132.13108234f, -14.18503333f, 110.36276771f},
                                      {-152.94239396f, 4.27729857f, -89.90310912f},
                                      {59.28637943f, 2.82956604f, 27.34824973f},
                                      {}}};

/// Colours at 0, 1/4, 1/2, 3/4 and 1, with straight lines between them; diverging about a light
/// middle, and about a dark one that lets small values recede.
using ColourLine = std::array<std::array<float, 3>, 5>;
inline constexpr ColourLine kCoolwarmLine{{{0.085f, 0.265f, 0.62f},
                                           {0.43f, 0.68f, 0.90f},
                                           {0.95f, 0.95f, 0.95f},
                                           {0.96f, 0.55f, 0.40f},
                                           {0.65f, 0.06f, 0.12f}}};
inline constexpr ColourLine kIcefireLine{{{0.70f, 0.95f, 0.97f},
                                          {0.10f, 0.36f, 0.72f},
                                          {0.07f, 0.07f, 0.09f},
                                          {0.76f, 0.22f, 0.20f},
                                          {1.00f, 0.88f, 0.55f}}};

}  // namespace firn
