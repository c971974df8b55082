// Command pack writes the files of a release from binaries that are already built: archives, checksums, an SBOM, an OCI
// image, a Homebrew formula, a Scoop manifest, install.sh, npm packages and Python wheels. It runs no other program and
// reads no network; the same binaries and arguments give the same bytes.
//
// The binaries are in BUILD/SYSTEM-MACHINE/stepback (with .exe on Windows), and those of the checking verbs alone in
// BUILD/SYSTEM-MACHINE/checks/stepback.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	var r release
	var at string
	flag.StringVar(&r.version, "version", "", "version of the release in semantic versioning, without a leading v")
	flag.StringVar(&at, "time", "", "time of all files, in RFC 3339: the commit's")
	flag.StringVar(&r.build, "build", "", "directory with the binaries")
	flag.StringVar(&r.out, "out", "", "directory to write; it must exist")
	flag.StringVar(&r.sources, "sources", ".", "directory internal/release of the repository")
	flag.StringVar(&r.url, "url", "", "address below which the files of this release will be published")
	flag.Parse()
	var err error
	if r.time, err = time.Parse(time.RFC3339, at); err == nil {
		err = r.write()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

// release holds the arguments and what all steps read.
type release struct {
	version, build, out, sources, url string
	time                              time.Time

	platforms []platform
	common    []file            // files of every archive and package
	sums      map[string]string // SHA-256 of each file of the release, in hexadecimal
}

// platform is a target of the release, and what each channel calls it.
type platform struct {
	system, machine string    // in Go's words
	node            [2]string // npm's os and cpu
	wheel           string    // platform tag of a wheel (PEP 425)
	binary, checks  string    // paths of the binaries
}

func (p platform) String() string { return p.system + "-" + p.machine }

// exe returns the suffix of programs.
func (p platform) exe() string {
	if p.system == "windows" {
		return ".exe"
	}
	return ""
}

// The binaries are static: they run with glibc and musl. A wheel needs a tag for each.
var platforms = []platform{
	{system: "linux", machine: "amd64", node: [2]string{"linux", "x64"}, wheel: "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64"},
	{system: "linux", machine: "arm64", node: [2]string{"linux", "arm64"}, wheel: "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64"},
	{system: "darwin", machine: "amd64", node: [2]string{"darwin", "x64"}, wheel: "macosx_12_0_x86_64"},
	{system: "darwin", machine: "arm64", node: [2]string{"darwin", "arm64"}, wheel: "macosx_12_0_arm64"},
	{system: "windows", machine: "amd64", node: [2]string{"win32", "x64"}, wheel: "win_amd64"},
	{system: "windows", machine: "arm64", node: [2]string{"win32", "arm64"}, wheel: "win_arm64"},
}

func (r *release) write() error {
	for _, p := range platforms {
		dir := filepath.Join(r.build, p.String())
		p.binary, p.checks = filepath.Join(dir, "stepback"+p.exe()), filepath.Join(dir, "checks", "stepback"+p.exe())
		if _, err := os.Stat(p.binary); err == nil {
			r.platforms = append(r.platforms, p)
		}
	}
	if len(r.platforms) == 0 {
		return fmt.Errorf("%s has no binaries", r.build)
	}
	for _, name := range []string{"LICENSE", "CHANGELOG.md", "README.md", "LICENCES-OF-DEPENDENCIES"} {
		text, err := os.ReadFile(filepath.Join(r.build, name))
		if err != nil {
			return err
		}
		r.common = append(r.common, file{name, text, 0o644})
	}
	r.sums = map[string]string{}
	for _, step := range []func() error{r.archives, r.bom, r.images, r.npm, r.wheels, r.recipes} {
		if err := step(); err != nil {
			return err
		}
	}
	return r.checksums()
}

// save writes a file of the release and notes its checksum.
func (r *release) save(name string, content []byte) error {
	sum := sha256.Sum256(content)
	r.sums[name] = hex.EncodeToString(sum[:])
	return os.WriteFile(filepath.Join(r.out, name), content, 0o644)
}

// checksums writes SHA256SUMS, in the format of sha256sum.
func (r *release) checksums() error {
	names := make([]string, 0, len(r.sums))
	for name := range r.sums {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "%s  %s\n", r.sums[name], name)
	}
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(b.String()), 0o644)
}

// fill replaces the placeholders of a template: @VERSION@, @URL@, @HOMEPAGE@, the repository of a release at GitHub or else
// the URL, and @SHA256:FILE@, the checksum of a file that has been
// written.
func (r *release) fill(text []byte) ([]byte, error) {
	homepage, _, _ := strings.Cut(r.url, "/releases/download/")
	s := strings.NewReplacer("@HOMEPAGE@", homepage, "@VERSION@", r.version, "@PYVERSION@", pythonVersion(r.version), "@URL@", r.url).Replace(string(text))
	for {
		before, rest, found := strings.Cut(s, "@SHA256:")
		if !found {
			return []byte(s), nil
		}
		name, after, _ := strings.Cut(rest, "@")
		sum := r.sums[name]
		if sum == "" && len(r.platforms) == len(platforms) {
			return nil, fmt.Errorf("a template needs the checksum of %s, which is not part of the release", name)
		}
		s = before + sum + after
	}
}
