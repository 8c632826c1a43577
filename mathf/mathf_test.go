package mathf_test

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/mathf"
)

// functions are all functions of the package, with those of package math.
var functions = []struct {
	name string
	f    func(x, y float32) float32
	math func(x, y float64) float64
	ulp  float64 // the largest error, in units in the last place
	hash uint64  // hash is the hash of the results of 100 000 inputs. It is the same on every architecture.
}{
	{"Sin", func(x, _ float32) float32 { return mathf.Sin(x) }, func(x, _ float64) float64 { return math.Sin(x) }, 0.501, 0xf962a7557aed00f8},
	{"Cos", func(x, _ float32) float32 { return mathf.Cos(x) }, func(x, _ float64) float64 { return math.Cos(x) }, 0.501, 0xecf3fcbdcdf4271b},
	{"Tan", func(x, _ float32) float32 { return mathf.Tan(x) }, func(x, _ float64) float64 { return math.Tan(x) }, 0.501, 0x5ecae4005268a16a},
	{"Asin", func(x, _ float32) float32 { return mathf.Asin(x) }, func(x, _ float64) float64 { return math.Asin(x) }, 0.501, 0x2df8616c7d7e390f},
	{"Acos", func(x, _ float32) float32 { return mathf.Acos(x) }, func(x, _ float64) float64 { return math.Acos(x) }, 0.501, 0x9382d704e0f91478},
	{"Atan", func(x, _ float32) float32 { return mathf.Atan(x) }, func(x, _ float64) float64 { return math.Atan(x) }, 0.501, 0xe293a9b831e1e2fd},
	{"Atan2", mathf.Atan2, math.Atan2, 0.501, 0xb0d051ceaa7869dc},
	{"Sqrt", func(x, _ float32) float32 { return mathf.Sqrt(x) }, func(x, _ float64) float64 { return math.Sqrt(x) }, 0.5, 0xfe0f493893758f18},
	{"Hypot", mathf.Hypot, math.Hypot, 0.501, 0x8d29ee0848c25f3c},
	{"Exp", func(x, _ float32) float32 { return mathf.Exp(x) }, func(x, _ float64) float64 { return math.Exp(x) }, 0.501, 0x7bba925df27baaec},
	{"Log", func(x, _ float32) float32 { return mathf.Log(x) }, func(x, _ float64) float64 { return math.Log(x) }, 0.501, 0x5a318f26f01ccf73},
	{"Pow", mathf.Pow, math.Pow, 0.501, 0x1eaf141cca2e888b},
}

// inputs calls f with n pairs: a half of moderate size, as in games, a half of any bits.
func inputs(n int, f func(x, y float32)) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		a, b := r.Uint64(), r.Uint64()
		if i%2 == 0 {
			f(float32(float64(int64(a)))/(1<<59), float32(float64(int64(b)))/(1<<59)) // 386 rounds an int64 twice on its way to float32
		} else {
			f(math.Float32frombits(uint32(a)), math.Float32frombits(uint32(b)))
		}
	}
}

// edges are the inputs with rules of their own.
var edges = []float32{0, float32(math.Copysign(0, -1)), 1, -1, 0.5, -0.5, 2, -2, 3, -3, 1 << 24, -1 << 24, math.MaxFloat32, -math.MaxFloat32,
	math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())}

// ulps is how far a result is from the exact one, in units in the last place of the
// float32 nearest to that.
func ulps(got float32, want float64) float64 {
	near := float32(want)
	if got == near || got != got && near != near {
		if math.IsInf(want, 0) || want != want || want == 0 || math.IsInf(float64(near), 0) {
			return 0
		}
	}
	if math.IsInf(float64(near), 0) || math.IsInf(float64(got), 0) || got != got || near != near {
		return math.Inf(1)
	}
	_, e := math.Frexp(float64(near))
	return math.Abs(float64(got)-want) / math.Ldexp(1, max(e-24, -149))
}

func TestError(t *testing.T) {
	n := 1_000_000
	if testing.Short() {
		n = 50_000
	}
	for _, c := range functions {
		worst, atX, atY, wrong := 0.0, float32(0), float32(0), 0
		inputs(n, func(x, y float32) {
			got, want := c.f(x, y), c.math(float64(x), float64(y))
			if got != float32(want) && (got == got || want == want) {
				wrong++
			}
			if u := ulps(got, want); u > worst {
				worst, atX, atY = u, x, y
			}
		})
		t.Logf("%-5s worst %.6f ulp at (%g, %g); %d of %d are not the nearest", c.name, worst, atX, atY, wrong, n)
		require.LessOrEqual(t, worst, c.ulp, "%s(%g, %g)", c.name, atX, atY)
	}
}

func TestEdges(t *testing.T) {
	for _, c := range functions {
		for _, x := range edges {
			for _, y := range edges {
				got, want := c.f(x, y), float32(c.math(float64(x), float64(y)))
				same := got == want && math.Signbit(float64(got)) == math.Signbit(float64(want)) || got != got && want != want
				require.True(t, same, "%s(%g, %g) is %g, not %g", c.name, x, y, got, want)
			}
		}
	}
}

func TestSincos(t *testing.T) {
	inputs(10_000, func(x, _ float32) {
		s, c := mathf.Sincos(x)
		require.Equal(t, fmt.Sprint(mathf.Sin(x), mathf.Cos(x)), fmt.Sprint(s, c))
	})
}

// usual is how many inputs the hashes above are of.
const usual = 100_000

var everywhere = flag.Int("inputs", usual, "inputs of each function in TestEverywhere, which prints the results' hashes if there are other than 100 000")

// TestEverywhere compares results to the bit with those of other architectures.
func TestEverywhere(t *testing.T) {
	for _, c := range functions {
		h := fnv.New64a()
		inputs(*everywhere, func(x, y float32) {
			v := c.f(x, y)
			if v != v {
				v = 0 // the bits of a NaN depend on the architecture
			}
			b := math.Float32bits(v)
			h.Write([]byte{byte(b), byte(b >> 8), byte(b >> 16), byte(b >> 24)})
		})
		if *everywhere != usual {
			t.Logf("%s of %d inputs: %#x", c.name, *everywhere, h.Sum64())
		} else if c.hash != h.Sum64() {
			t.Errorf("%s: %#x, not %#x", c.name, h.Sum64(), c.hash)
		}
	}
}

var sink float32

func BenchmarkFunctions(b *testing.B) {
	for _, c := range functions {
		b.Run(c.name, func(b *testing.B) {
			for i := range b.N {
				sink = c.f(float32(i%100)/100, 0.7)
			}
		})
		b.Run("math."+c.name, func(b *testing.B) {
			for i := range b.N {
				sink = float32(c.math(float64(float32(i%100)/100), 0.7))
			}
		})
	}
}
