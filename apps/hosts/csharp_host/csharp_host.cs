// Runs waves by a saved program from C#, on a device of Firn's own, beside the same in C#.
// usage: mono csharp_host.exe wave.firn
using System;
using System.IO;
using System.Runtime.InteropServices;

static class Firn {
    // libfirn_runtime.so.1 is found as the system finds libraries: LD_LIBRARY_PATH, or where it is installed.
    const string Library = "libfirn_runtime.so.1";

    [StructLayout(LayoutKind.Sequential)]
    public struct Shape {
        public uint Rank;
        [MarshalAs(UnmanagedType.ByValArray, SizeConst = 8)] public long[] Extents;
    }
    [StructLayout(LayoutKind.Sequential)]
    public struct Binding {
        public IntPtr Buffer, Image;
        public ulong Offset, Bytes;
    }

    [DllImport(Library)] static extern IntPtr firn_code_name(int code);
    [DllImport(Library)] static extern IntPtr firn_message(IntPtr context);
    [DllImport(Library)] public static extern int firn_context_create_own(IntPtr own, out IntPtr context, byte[] message, UIntPtr room);
    [DllImport(Library)] public static extern IntPtr firn_context_device(IntPtr context);
    [DllImport(Library)] public static extern int firn_context_destroy(IntPtr context);
    [DllImport(Library)] public static extern int firn_program_load(IntPtr context, byte[] file, UIntPtr bytes, out IntPtr program);
    [DllImport(Library)] public static extern void firn_program_release(IntPtr program);
    [DllImport(Library)] public static extern int firn_buffer_create(IntPtr context, ulong bytes, out IntPtr buffer);
    [DllImport(Library)] public static extern int firn_buffer_write(IntPtr buffer, ulong offset, float[] data, UIntPtr bytes);
    [DllImport(Library)] public static extern int firn_buffer_read(IntPtr buffer, ulong offset, float[] data, UIntPtr bytes);
    [DllImport(Library)] public static extern void firn_buffer_release(IntPtr buffer);
    [DllImport(Library)] public static extern int firn_call_create(IntPtr program, Shape[] shapes, uint count, out IntPtr call);
    [DllImport(Library)] public static extern void firn_call_release(IntPtr call);
    [DllImport(Library)] public static extern int firn_call_set_parameter(IntPtr call, uint parameter, double[] values, uint count);
    [DllImport(Library)] public static extern int firn_call_bind(IntPtr call, Binding[] arguments, uint argumentCount, Binding[] results, uint resultCount, IntPtr scratch);
    [DllImport(Library)] public static extern int firn_submit(IntPtr call, IntPtr info, IntPtr point);

    // Throws the text of the error unless the code is FIRN_OK.
    public static void Check(int code, IntPtr context) {
        if (code != 0) throw new Exception(Text(firn_code_name(code)) + ": " + Text(firn_message(context)));
    }
    public static string Text(IntPtr text) { return Marshal.PtrToStringAnsi(text); }
}

static class CSharpHost {
    const int N = 96, M = 160, Steps = 100;
    const float Dt = 0.3f;

    // A step of waves in place; beyond an edge is the element at the edge.
    static void Step(float[] u, float[] v) {
        var before = (float[])u.Clone();
        for (int i = 0; i < N; ++i)
            for (int j = 0; j < M; ++j) {
                float up = before[Math.Max(i - 1, 0) * M + j], down = before[Math.Min(i + 1, N - 1) * M + j];
                float left = before[i * M + Math.Max(j - 1, 0)], right = before[i * M + Math.Min(j + 1, M - 1)];
                int at = i * M + j;
                v[at] += Dt * (up + down + left + right - 4 * before[at]);
                u[at] += Dt * v[at];
            }
    }

    static IntPtr BufferOf(IntPtr context, float[] data) {
        IntPtr buffer;
        Firn.Check(Firn.firn_buffer_create(context, 4 * (ulong)data.Length, out buffer), context);
        Firn.Check(Firn.firn_buffer_write(buffer, 0, data, (UIntPtr)(4 * data.Length)), context);
        return buffer;
    }

    static float[] RunFirn(byte[] file, float[] u, float[] v) {
        IntPtr context, program, call;
        var message = new byte[512];
        if (Firn.firn_context_create_own(IntPtr.Zero, out context, message, (UIntPtr)message.Length) != 0)
            throw new Exception(System.Text.Encoding.UTF8.GetString(message).TrimEnd('\0'));
        Console.WriteLine("device: " + Firn.Text(Firn.firn_context_device(context)));
        Firn.Check(Firn.firn_program_load(context, file, (UIntPtr)file.Length, out program), context);
        var shape = new Firn.Shape { Rank = 2, Extents = new long[] { N, M, 0, 0, 0, 0, 0, 0 } };
        var number = new Firn.Shape { Rank = 0, Extents = new long[8] };
        Firn.Check(Firn.firn_call_create(program, new[] { shape, shape, number }, 3, out call), context);
        Firn.Check(Firn.firn_call_set_parameter(call, 0, new double[] { Dt }, 1), context);
        var buffers = new[] { BufferOf(context, u), BufferOf(context, v), BufferOf(context, u), BufferOf(context, v) };
        for (int step = 0; step < Steps; ++step) { // the results of a step are the arguments of the next one
            int from = 2 * (step % 2), to = 2 - from;
            var arguments = new[] { new Firn.Binding { Buffer = buffers[from] }, new Firn.Binding { Buffer = buffers[from + 1] }, new Firn.Binding() };
            var results = new[] { new Firn.Binding { Buffer = buffers[to] }, new Firn.Binding { Buffer = buffers[to + 1] } };
            Firn.Check(Firn.firn_call_bind(call, arguments, 3, results, 2, IntPtr.Zero), context);
            Firn.Check(Firn.firn_submit(call, IntPtr.Zero, IntPtr.Zero), context);
        }
        var seen = new float[u.Length];
        Firn.Check(Firn.firn_buffer_read(buffers[2 * (Steps % 2)], 0, seen, (UIntPtr)(4 * seen.Length)), context);
        Firn.firn_call_release(call);
        foreach (IntPtr buffer in buffers) Firn.firn_buffer_release(buffer);
        Firn.firn_program_release(program);
        Firn.Check(Firn.firn_context_destroy(context), context);
        return seen;
    }

    static int Main(string[] words) {
        if (words.Length != 1) {
            Console.Error.WriteLine("usage: csharp_host.exe wave.firn");
            return 2;
        }
        try {
            var u = new float[N * M];
            var v = new float[N * M];
            for (int i = 0; i < N; ++i)
                for (int j = 0; j < M; ++j) // a drop
                    u[i * M + j] = (float)Math.Exp(-0.01f * ((i - N / 2) * (i - N / 2) + (j - M / 2) * (j - M / 2)));
            float[] seen = RunFirn(File.ReadAllBytes(words[0]), u, v);
            for (int step = 0; step < Steps; ++step) Step(u, v);
            double squares = 0, here = 0, difference = 0;
            for (int k = 0; k < u.Length; ++k) {
                squares += (double)seen[k] * seen[k];
                here += (double)u[k] * u[k];
                difference = Math.Max(difference, Math.Abs((double)seen[k] - u[k]));
            }
            var invariant = System.Globalization.CultureInfo.InvariantCulture;
            Console.WriteLine(string.Format(invariant, "sum of squares {0:F6}, in C# {1:F6}", squares, here));
            Console.WriteLine(string.Format(invariant, "largest difference {0:G2}", difference));
            if (difference <= 1e-5) return 0;
            Console.Error.WriteLine("csharp_host: Firn and C# differ");
        } catch (Exception error) {
            Console.Error.WriteLine("csharp_host: " + error.Message);
        }
        return 1;
    }
}
