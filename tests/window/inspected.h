// An inspector without a window: its frames, and clicks in it.
#pragma once
#include <gtest/gtest.h>
#include <imgui.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "compiler/frontend/record.h"
#include "compiler/language.h"
#include "engine/firn/device_session.h"
#include "engine/firn/inspector_tools.h"
#include "engine/inspector/inspector.h"
#include "tests/deadline.h"
#include "tests/window/drawn_text.h"

namespace firn {

/// A program that multiplies by 2.5, and an inspector in a context of its own.
class Inspected : public testing::Test {
  protected:
    void SetUp() override {
        try {
            session = device_session({.validation = true});
        } catch (const DeviceError& error) {
            GTEST_SKIP() << "no device: " << error.what();
        }
        scope.emplace(*session);
        executor = std::dynamic_pointer_cast<VulkanExecutor>(
            std::shared_ptr<Executor>(session->state()->executor));
        f = compile([](Tensor x) { return x * 2.5f; }, {f32("n")});
        ImGui::CreateContext();
        ImGuiIO& io = ImGui::GetIO();
        io.IniFilename = nullptr;
        io.DisplaySize = {800, 900};
        io.KeyMap[ImGuiKey_A] = 'A';
        unsigned char* texels = nullptr;
        int width = 0, height = 0;
        io.Fonts->GetTexDataAsAlpha8(&texels, &width, &height);
        inspector.emplace(executor, inspector_tools(), testing::TempDir() + "inspected");
    }
    void TearDown() override {
        inspector.reset();
        if (ImGui::GetCurrentContext()) ImGui::DestroyContext();
        if (!session) return;
        EXPECT_EQ(validation_report(*session), "");
    }
    float result() { return (*f)(tensor({2.0f, NAN}))(0).item<float>(); }
    bool frame() {
        places.clear();
        ImGui::GetIO().DeltaTime = 0.05f;
        ImGui::NewFrame();
        const bool open = inspector->draw(1, places);
        ImGui::Render();
        return open;
    }
    Rectangle place(const std::string& name) const {
        for (const PanelPart& part : places)
            if (part.name == name) return part.rectangle;
        ADD_FAILURE() << name << " is not there";
        return {};
    }
    /// The text that the last frame has drawn there.
    static std::string text_in(const Rectangle& within) {
        return drawn_text(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts, within);
    }
    static void move_mouse(float x, float y) { ImGui::GetIO().MousePos = {x, y}; }
    /// Draws frames until `done`, for at most 20 s of Deadline.
    template <class Done>
    void frames_until(const Done& done) {
        for (Deadline deadline; !done() && !deadline.is_over();) {
            frame();
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        EXPECT_TRUE(done());
    }
    void click(const std::string& name) {
        for (int settle = 0; settle < 3; ++settle) frame();
        for (const PanelPart& part : places)
            if (part.name == name) {
                ImGuiIO& io = ImGui::GetIO();
                io.MousePos = {part.rectangle.x + 8, part.rectangle.y + 8};
                frame();
                for (bool down : {true, false}) {
                    io.MouseDown[0] = down;
                    frame();
                }
                return void(frame());
            }
        FAIL() << name << " is not there";
    }
    /// Replaces the content of a field.
    void type_into(const std::string& field, const std::string& text) {
        click(field);
        ImGuiIO& io = ImGui::GetIO();
        io.KeyCtrl = io.KeysDown[int('A')] = true;
        frame();
        io.KeyCtrl = io.KeysDown[int('A')] = false;
        frame();
        io.AddInputCharactersUTF8(text.c_str());
        frame();
    }
    void type_all(const std::string& text) {
        type_into("inspector glsl", text);
        click("inspector swap");
    }
    std::string glsl() const {
        return executor->watched().at(0).program->kernels.at(0).artefact.text;
    }
    static std::string with(std::string text, const std::string& from, const std::string& to) {
        const size_t at = text.find(from);
        EXPECT_NE(at, std::string::npos) << text;
        return at == std::string::npos ? text : text.replace(at, from.size(), to);
    }

    std::optional<Session> session;
    std::optional<SessionScope> scope;
    std::shared_ptr<VulkanExecutor> executor;
    std::optional<Inspector> inspector;
    std::vector<PanelPart> places;
    std::optional<Compiled<Tensor, 1>> f;
};

}  // namespace firn
