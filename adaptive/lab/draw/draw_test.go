package draw_test

import (
	"math"
	"testing"

	"stepback/adaptive/lab/draw"
)

// Numbers of neighbouring keys are uniform and uncorrelated, whichever part of the key is incremented.
func TestNeighbouringKeysAreIndependent(t *testing.T) {
	t.Parallel()
	const n = 200_000
	for name, key := range map[string]func(i uint64) float64{
		"seed":    func(i uint64) float64 { return draw.Float(i, 1, 7, 0) },
		"purpose": func(i uint64) float64 { return draw.Float(42, draw.Purpose(i), 7, 0) },
		"item":    func(i uint64) float64 { return draw.Float(42, 1, i, 0) },
		"attempt": func(i uint64) float64 { return draw.Float(42, 1, 7, i) },
		"stream": func() func(uint64) float64 {
			s := draw.Of(42, 1, 7, 0)
			return func(uint64) float64 { return s.Float() }
		}(),
		"first of streams": func(i uint64) float64 { s := draw.Of(42, 1, i, 0); return s.Float() },
	} {
		bins := make([]float64, 256)
		var sum, lag, previous float64
		for i := range uint64(n) {
			x := key(i)
			bins[int(x*256)]++
			sum += x
			lag += (x - 0.5) * (previous - 0.5)
			previous = x
		}
		chi := 0.0
		for _, b := range bins {
			chi += (b - n/256.0) * (b - n/256.0) / (n / 256.0)
		}
		// 255 degrees of freedom: mean 255, standard deviation 22.6.
		if chi < 165 || chi > 370 {
			t.Errorf("%s: chi square of 256 bins is %.0f, want about 255", name, chi)
		}
		if correlation := lag / n * 12; math.Abs(correlation) > 4/math.Sqrt(n) {
			t.Errorf("%s: neighbours correlate by %.4f", name, correlation)
		}
	}
}

func TestDistributionsHaveTheirMoments(t *testing.T) {
	t.Parallel()
	const n = 200_000
	s := draw.Of(1, 2, 3, 4)
	for _, c := range []struct {
		name     string
		next     func() float64
		mean, sd float64
	}{
		{"exp", s.Exp, 1, 1},
		{"normal", s.Normal, 0, 1},
		{"gamma 0.25", func() float64 { return s.Gamma(0.25) }, 0.25, 0.5},
		{"gamma 4", func() float64 { return s.Gamma(4) }, 4, 2},
	} {
		var sum, squares float64
		for range n {
			x := c.next()
			sum += x
			squares += x * x
		}
		mean := sum / n
		sd := math.Sqrt(squares/n - mean*mean)
		if math.Abs(mean-c.mean) > 4*c.sd/math.Sqrt(n) || math.Abs(sd/c.sd-1) > 0.02 {
			t.Errorf("%s has mean %.4f and deviation %.4f, want %v and %v", c.name, mean, sd, c.mean, c.sd)
		}
	}
}

func TestStreamsAllocateNothing(t *testing.T) {
	if got := testing.AllocsPerRun(100, func() {
		s := draw.Of(1, 2, 3, 4)
		if s.Gamma(0.5)+s.Exp() < 0 {
			t.Error("negative")
		}
	}); got != 0 {
		t.Errorf("%v allocations", got)
	}
}

// The numbers must never change, because reports have to be reproducible.
func TestNumbersStayTheSame(t *testing.T) {
	t.Parallel()
	s := draw.Of(10_000, 3, 17, 2)
	got := [3]uint64{draw.Bits(10_000, 3, 17, 2), s.Uint64(), s.Uint64()}
	if want := [3]uint64{0x43ffc50e2703cf4c, 0xb35f9c87119b0bbf, 0x97c20f54ed92c944}; got != want {
		t.Errorf("numbers are %#x, want %#x", got, want)
	}
}
