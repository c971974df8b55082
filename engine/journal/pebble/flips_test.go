package pebble_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"stepback/engine/journal"
	"stepback/engine/journal/pebble"
)

// TestNoFlippedByteIsSilent flips one byte anywhere in the files of a store. The store is then refused, or nothing is
// missing, or Check reports what is. STEPBACK_TORTURE sets the number of flips (default 6); STEPBACK_SEED selects
// other bytes.
func TestNoFlippedByteIsSilent(t *testing.T) {
	t.Parallel()
	const n = 60
	whole := manyExecutions(t, n)
	times, seed := number("STEPBACK_TORTURE", 6), number("STEPBACK_SEED", 1)
	random := rand.New(rand.NewPCG(uint64(seed), 2))
	for range times {
		dir := filepath.Join(t.TempDir(), "journal")
		if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		file := files[random.IntN(len(files))]
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(content) == 0 {
			continue
		}
		at, bit := random.IntN(len(content)), random.IntN(8)
		content[at] ^= 1 << bit
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if lost, told := missing(t, dir, n); lost > 0 && !told {
			t.Errorf("seed %d: bit %d of byte %d of %s: %d of %d executions are gone, and nothing says so", seed, bit, at,
				filepath.Base(file), lost, n)
		}
	}
}

// missing opens a store and counts the executions missing from it. told is true if opening failed or Check reported a
// problem.
func missing(t *testing.T, dir string, n int) (lost int, told bool) {
	t.Helper()
	j, err := pebble.Open(dir, pebble.Config{Retention: -1})
	if err != nil {
		return n, true
	}
	defer j.Close()
	if _, err := j.Check(t.Context(), func(error) { told = true }); err != nil {
		told = true
	}
	found := 0
	for _, err := range j.Listed(t.Context(), &journal.List{Of: "m"}) {
		if err != nil {
			return n - found, true
		}
		found++
	}
	return n - found, told
}

// number reads a number from an environment variable; usual is the default.
func number(variable string, usual int) int {
	if n, err := strconv.Atoi(os.Getenv(variable)); err == nil {
		return n
	}
	return usual
}
