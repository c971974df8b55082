package corruption_test

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"stepback/engine/journal/pebble"
	"stepback/local"
)

// directories are data directories with known content, made once.
type directories struct {
	written content
	// older is the directory after round 0. closed is it after round 1, and killed after round 2, whose process died.
	older, closed, killed string
	closedContent         content
}

var made struct {
	sync.Once
	directories
}

// directoriesOf makes the directories through the real services.
func directoriesOf(t *testing.T) *directories {
	t.Helper()
	made.Do(func() {
		root, err := os.MkdirTemp("", "stepback-corruption-") //nolint:usetesting // all tests share it
		if err != nil {
			t.Fatal(err)
		}
		d := &made.directories
		d.written, d.older, d.closed, d.killed = content{}, filepath.Join(root, "older"), filepath.Join(root, "closed"), filepath.Join(root, "killed")
		dir := filepath.Join(root, "data")
		for round, to := range []string{d.older, d.closed, d.killed} {
			p, err := local.Open(t.Context(), local.Config{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			clientsOf(p).fill(t.Context(), t, d.written, round)
			if to == d.killed {
				copyTo(t, dir, to)
			}
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
			if to != d.killed {
				copyTo(t, dir, to)
			}
			if to == d.closed {
				d.closedContent = content{}
				for name, values := range d.written {
					d.closedContent[name] = slices.Clone(values)
				}
			}
		}
	})
	if made.closedContent == nil {
		t.Fatal("the directories could not be made")
	}
	return &made.directories
}

// TestMain removes the directories.
func TestMain(m *testing.M) {
	code := m.Run()
	if made.older != "" {
		_ = os.RemoveAll(filepath.Dir(made.older))
	}
	os.Exit(code)
}

// copyTo copies a directory with the modification times of its files.
func copyTo(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, below)
		if e.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		if !e.Type().IsRegular() || below == "server.json" {
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(target, text, info.Mode().Perm())
		}
		if err == nil {
			err = os.Chtimes(target, info.ModTime(), info.ModTime())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// harm is a kind of damage. It returns the damaged content, or false if it cannot be done to the file. remove is true
// if the file is to be removed.
type harm struct {
	name string
	do   func(draw *rand.Rand, content, older []byte) (damaged []byte, remove, ok bool)
}

var harms = []harm{
	{"truncate", func(draw *rand.Rand, b, _ []byte) ([]byte, bool, bool) {
		if len(b) == 0 {
			return nil, false, false
		}
		return b[:draw.IntN(len(b))], false, true
	}},
	{"flip bits", func(draw *rand.Rand, b, _ []byte) ([]byte, bool, bool) {
		if len(b) == 0 {
			return nil, false, false
		}
		for range 1 + draw.IntN(3) {
			b[draw.IntN(len(b))] ^= 1 << draw.IntN(8)
		}
		return b, false, true
	}},
	{"zero a block", func(draw *rand.Rand, b, _ []byte) ([]byte, bool, bool) {
		if len(b) == 0 {
			return nil, false, false
		}
		at := draw.IntN(len(b))
		clear(b[at:min(len(b), at+512)])
		return b, false, true
	}},
	{"random bytes", func(draw *rand.Rand, b, _ []byte) ([]byte, bool, bool) {
		if len(b) == 0 {
			return nil, false, false
		}
		at := draw.IntN(len(b))
		for i := at; i < min(len(b), at+64); i++ {
			b[i] = byte(draw.Uint32())
		}
		return b, false, true
	}},
	{"remove", func(_ *rand.Rand, _, _ []byte) ([]byte, bool, bool) { return nil, true, true }},
	{"swap with an older copy", func(_ *rand.Rand, b, older []byte) ([]byte, bool, bool) {
		return older, false, older != nil && string(older) != string(b)
	}},
	{"append garbage", func(draw *rand.Rand, b, _ []byte) ([]byte, bool, bool) {
		for range 1 + draw.IntN(200) {
			b = append(b, byte(draw.Uint32()))
		}
		return b, false, true
	}},
}

// storesOf groups the files of a data directory by store: the folder below it, or the file itself.
func storesOf(t *testing.T, dir string) map[string][]string {
	t.Helper()
	stores := map[string][]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		below, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if base := filepath.Base(below); base == "LOCK" || base == "lock" || strings.HasPrefix(below, filepath.Join("lambda", "runtimes")) {
			return nil // made again at each start
		}
		store, _, _ := strings.Cut(filepath.ToSlash(below), "/")
		stores[store] = append(stores[store], below)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return stores
}

// damage damages one file of a directory and returns a description.
func (d *directories) damage(t *testing.T, draw *rand.Rand, dir string) string {
	t.Helper()
	stores := storesOf(t, dir)
	names := slices.Sorted(maps.Keys(stores))
	for {
		files := stores[names[draw.IntN(len(names))]]
		file := files[draw.IntN(len(files))]
		h := harms[draw.IntN(len(harms))]
		path := filepath.Join(dir, file)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		older, _ := os.ReadFile(filepath.Join(d.older, file))
		damaged, remove, ok := h.do(draw, slices.Clone(text), older)
		if !ok {
			continue
		}
		if remove {
			err = os.Remove(path)
		} else if err = os.WriteFile(path, damaged, info.Mode().Perm()); err == nil {
			err = os.Chtimes(path, info.ModTime(), info.ModTime()) // a damaged disk does not change it
		}
		if err != nil {
			t.Fatal(err)
		}
		return h.name + " " + file
	}
}

// verdict is the outcome of a case.
type verdict struct {
	told  []string
	wrong []string // faults of the case
}

// judge opens, checks and reads a damaged directory, and repairs it.
func judge(ctx context.Context, dir string, written content) (v verdict) {
	tell := func(err error) {
		v.told = append(v.told, err.Error())
		if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "goroutine ") {
			v.wrong = append(v.wrong, "this is not one line: "+err.Error())
		}
	}
	if _, err := local.CheckData(ctx, dir, tell); err != nil {
		tell(err)
	}
	p, err := local.Open(ctx, forever(dir))
	if err != nil {
		tell(err)
	} else {
		c := clientsOf(p)
		v.compare(c.read(ctx, written), written)
		if _, err := p.CheckData(ctx, tell); err != nil {
			tell(err)
		}
		_ = p.Close()
	}
	for _, said := range v.told {
		if !strings.Contains(said, dir) {
			v.wrong = append(v.wrong, "this names no file: "+said)
		}
	}
	if len(v.told) > 0 {
		v.repair(ctx, dir, written)
	}
	return v
}

// compare compares what was read with what was written. A check must have reported what is missing or old.
func (v *verdict) compare(found map[string]string, written content) {
	for name, values := range written {
		now, there := found[name]
		switch {
		case there && now == values[len(values)-1]:
		case there && !slices.Contains(values, now) && strings.HasPrefix(name, "notification/") && len(v.told) > 0:
			// no service reads the file
		case there && !slices.Contains(values, now):
			v.wrong = append(v.wrong, fmt.Sprintf("%s has a value that was never written: %.80q", name, now))
		case len(v.told) > 0:
		case there:
			v.wrong = append(v.wrong, name+" has an old value, and nothing says so")
		default:
			v.wrong = append(v.wrong, name+" is gone, and nothing says so")
		}
	}
	if now, there := found["a message that nobody sent"]; there {
		v.wrong = append(v.wrong, fmt.Sprintf("a message that nobody sent: %.80q", now))
	}
}

// repair repairs a directory, which must then be without problems and open.
func (v *verdict) repair(ctx context.Context, dir string, written content) {
	if _, err := local.RepairData(ctx, dir, func(error) {}); err != nil {
		v.wrong = append(v.wrong, "repair: "+err.Error())
		return
	}
	p, err := local.Open(ctx, forever(dir))
	if err != nil {
		v.wrong = append(v.wrong, "after the repair: "+err.Error())
		return
	}
	v.compare(clientsOf(p).read(ctx, written), written)
	if err := p.Close(); err != nil {
		v.wrong = append(v.wrong, "after the repair: "+err.Error())
	}
	if _, err := local.CheckData(ctx, dir, func(err error) { v.wrong = append(v.wrong, "after the repair: "+err.Error()) }); err != nil {
		v.wrong = append(v.wrong, "after the repair: "+err.Error())
	}
}

// number reads a number from an environment variable; usual is the default.
func number(variable string, usual int) int {
	if n, err := strconv.Atoi(os.Getenv(variable)); err == nil {
		return n
	}
	return usual
}

// TestCorruption damages one file of a data directory in each case: a drawn store, file and kind of damage. Each damage
// must be reported, with the file, or be harmless; nothing may be read that was never written; and a repair must bring
// the directory back to a state that opens. STEPBACK_CASES and STEPBACK_SEED choose the number of cases and the draws.
func TestCorruption(t *testing.T) {
	t.Parallel()
	d := directoriesOf(t)
	cases, seed := number("STEPBACK_CASES", 24), number("STEPBACK_SEED", 1)
	var mu sync.Mutex
	told := 0
	t.Run("cases", func(t *testing.T) {
		for i := range cases {
			t.Run(strconv.Itoa(seed+i), func(t *testing.T) {
				t.Parallel()
				draw := rand.New(rand.NewPCG(uint64(seed+i), 7))
				base, written := d.closed, d.closedContent
				if draw.IntN(2) == 0 {
					base, written = d.killed, d.written
				}
				dir := filepath.Join(t.TempDir(), "data")
				copyTo(t, base, dir)
				what := d.damage(t, draw, dir)
				v := judge(t.Context(), dir, written)
				for _, w := range v.wrong {
					t.Errorf("%s in the %s directory: %s\n(told: %.300q)", what, filepath.Base(base), w, v.told)
				}
				mu.Lock()
				defer mu.Unlock()
				if len(v.told) > 0 {
					told++
				}
			})
		}
	})
	t.Logf("%d cases, %d told, %d harmless", cases, told, cases-told)
}

// TestNoDamageIsTold checks that the directories themselves are without problems and have all content.
func TestNoDamageIsTold(t *testing.T) {
	t.Parallel()
	d := directoriesOf(t)
	for base, written := range map[string]content{d.closed: d.closedContent, d.killed: d.written} {
		dir := filepath.Join(t.TempDir(), "data")
		copyTo(t, base, dir)
		v := judge(t.Context(), dir, written)
		if len(v.told)+len(v.wrong) > 0 {
			t.Errorf("%s: told %q, wrong %q", filepath.Base(base), v.told, v.wrong)
		}
	}
}

// forever returns a platform's configuration that keeps executions however long ago they ended, as those in the archive
// of an earlier version did.
func forever(dir string) local.Config {
	return local.Config{Dir: dir, JournalOptions: pebble.Config{Retention: -1}}
}
