package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// tree reads the files of a directory of sources, with their placeholders filled. Programs below bin are executable.
func (r *release) tree(dir, prefix string) ([]file, error) {
	var files []file
	root := filepath.Join(r.sources, dir)
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		relative, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		if text, err = r.fill(text); err != nil {
			return err
		}
		name, mode := filepath.ToSlash(relative), int64(0o644)
		if strings.HasPrefix(name, "bin/") {
			mode = 0o755
		}
		files = append(files, file{path.Join(prefix, name), text, mode})
		return nil
	})
	return files, err
}

// npm writes the package stepback and one package a platform, which has only the binary. npm installs the one whose os
// and cpu fit; no package has an install script.
func (r *release) npm() error {
	files, err := r.tree("npm", "package")
	if err != nil {
		return err
	}
	for _, f := range r.common {
		if f.name != "README.md" {
			files = append(files, file{"package/" + f.name, f.data, f.mode})
		}
	}
	packed, err := tgzOf(files, r.time)
	if err != nil {
		return err
	}
	if err := r.save("npm-stepback-"+r.version+".tgz", packed); err != nil {
		return err
	}
	if err := r.library(); err != nil {
		return err
	}
	for _, p := range r.platforms {
		binary, err := os.ReadFile(p.binary)
		if err != nil {
			return err
		}
		target := p.node[0] + "-" + p.node[1]
		description, err := json.MarshalIndent(map[string]any{
			"name": "@stepback/" + target, "version": r.version, "os": p.node[:1], "cpu": p.node[1:],
			"description": "The binary of stepback for " + target, "license": "Apache-2.0", "preferUnplugged": true,
			"binarySize": len(binary), // stepback's index.cjs compares it, to name a broken installation
		}, "", "  ")
		if err != nil {
			return err
		}
		files := []file{{"package/package.json", append(description, '\n'), 0o644}, {"package/bin/stepback" + p.exe(), binary, 0o755}}
		for _, f := range r.common {
			if strings.HasPrefix(f.name, "LICEN") {
				files = append(files, file{"package/" + f.name, f.data, f.mode})
			}
		}
		if packed, err = tgzOf(files, r.time); err != nil {
			return err
		}
		if err := r.save(fmt.Sprintf("npm-stepback-%s-%s.tgz", target, r.version), packed); err != nil {
			return err
		}
	}
	return nil
}

// library writes the package @stepback/asl and the drop-ins on top of it. @stepback/asl has the WebAssembly module and the JavaScript that runs it, as library.cjs and
// library.mjs. Both contain Go's wasm_exec.js, wrapped so that it changes no global variable: its global object is a
// parameter.
func (r *release) library() error {
	files, err := r.tree("npm-asl", "package")
	if err != nil {
		return err
	}
	runtime, err := os.ReadFile(filepath.Join(r.build, "wasm_exec.js"))
	if err != nil {
		return err
	}
	module, err := os.ReadFile(filepath.Join(r.build, "asl.wasm"))
	if err != nil {
		return err
	}
	files = append(files, file{"package/asl.wasm", module, 0o644})
	for i := range files {
		if files[i].name != "package/library.js" {
			continue
		}
		code := "function goRuntime(globalThis) {\nconst fs = { writeSync: (fd, bytes) => globalThis.fs.writeSync(fd, bytes) };\n" +
			string(runtime) + "\nreturn globalThis.Go;\n}\n\n" + string(files[i].data)
		files[i] = file{"package/library.cjs", []byte("\"use strict\";\n" + code + "\nmodule.exports = { library, AslError };\n"), 0o644}
		files = append(files, file{"package/library.mjs", []byte(code + "\nexport { library, AslError };\n"), 0o644})
	}
	for _, f := range r.common {
		if strings.HasPrefix(f.name, "LICEN") {
			files = append(files, file{"package/" + f.name, f.data, f.mode})
		}
	}
	packed, err := tgzOf(files, r.time)
	if err != nil {
		return err
	}
	if err := r.save("npm-asl-"+r.version+".tgz", packed); err != nil {
		return err
	}
	for _, dropIn := range []string{"npm-asl-validator", "npm-asl-path-validator"} {
		files, err := r.tree(dropIn, "package")
		if err != nil {
			return err
		}
		for _, f := range r.common {
			if f.name == "LICENSE" {
				files = append(files, file{"package/" + f.name, f.data, f.mode})
			}
		}
		if packed, err = tgzOf(files, r.time); err != nil {
			return err
		}
		if err := r.save(dropIn+"-"+r.version+".tgz", packed); err != nil {
			return err
		}
	}
	return nil
}

// pythonVersion converts a semantic version to one of PEP 440: a pre-release becomes a development version.
func pythonVersion(version string) string {
	base, pre, isPre := strings.Cut(version, "-")
	if !isPre {
		return base
	}
	stamp, rest, _ := strings.Cut(pre, "-")
	for _, c := range stamp {
		if c < '0' || c > '9' {
			stamp, rest = "0", pre
			break
		}
	}
	local := strings.Trim(strings.ReplaceAll(rest, "-", "."), ".")
	if local == "" {
		return base + ".dev" + stamp
	}
	return base + ".dev" + stamp + "+g" + local
}

// wheels writes a wheel for each platform: the binary as a script, the package stepback, and its pytest plugin.
func (r *release) wheels() error {
	version := pythonVersion(r.version)
	info := "stepback-" + version + ".dist-info/"
	for _, p := range r.platforms {
		files, err := r.tree("python/stepback", "stepback")
		if err != nil {
			return err
		}
		binary, err := os.ReadFile(p.binary)
		if err != nil {
			return err
		}
		readme, err := os.ReadFile(filepath.Join(r.sources, "python", "README.md"))
		if err != nil {
			return err
		}
		var wheel strings.Builder
		wheel.WriteString("Wheel-Version: 1.0\nGenerator: stepback\nRoot-Is-Purelib: false\n")
		for tag := range strings.SplitSeq(p.wheel, ".") {
			fmt.Fprintf(&wheel, "Tag: py3-none-%s\n", tag)
		}
		files = append(files,
			file{"stepback-" + version + ".data/scripts/stepback" + p.exe(), binary, 0o755},
			file{info + "METADATA", fmt.Appendf(nil, "Metadata-Version: 2.1\nName: stepback\nVersion: %s\nSummary: AWS Step Functions on one machine: "+
				"validate, test and serve state machines\nRequires-Python: >=3.9\nClassifier: Framework :: Pytest\n"+
				"Description-Content-Type: text/markdown\n\n%s", version, readme), 0o644},
			file{info + "WHEEL", []byte(wheel.String()), 0o644},
			file{info + "entry_points.txt", []byte("[pytest11]\nstepback = stepback.pytest_plugin\n"), 0o644})
		for _, f := range r.common {
			if strings.HasPrefix(f.name, "LICEN") {
				files = append(files, file{info + f.name, f.data, f.mode})
			}
		}
		var record strings.Builder
		for _, f := range files {
			sum := sha256.Sum256(f.data)
			fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.data))
		}
		fmt.Fprintf(&record, "%sRECORD,,\n", info)
		files = append(files, file{info + "RECORD", []byte(record.String()), 0o644})
		packed, err := zipOf(files, r.time)
		if err != nil {
			return err
		}
		if err := r.save(fmt.Sprintf("stepback-%s-py3-none-%s.whl", version, p.wheel), packed); err != nil {
			return err
		}
	}
	return nil
}

// recipes writes install.sh, the Homebrew formula and the Scoop manifest, which contain checksums of the archives.
func (r *release) recipes() error {
	for _, recipe := range []string{"install.sh", "stepback.rb", "stepback.json"} {
		text, err := os.ReadFile(filepath.Join(r.sources, "recipes", recipe))
		if err != nil {
			return err
		}
		if text, err = r.fill(text); err != nil {
			return err
		}
		if err := r.save(recipe, text); err != nil {
			return err
		}
	}
	return nil
}
