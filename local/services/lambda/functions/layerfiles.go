package functions

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"stepback/aws"
	"stepback/internal/atomicfile"
	"stepback/internal/ownerfs"
	"stepback/local/services/lambda/runtimes"
)

// maxLayers is the maximum number of layers per function.
const maxLayers = 5

// layersOf returns the layers with the given ARNs and merges their files. AWS's public layers have none.
func (s *Service) layersOf(arns []string) ([]Layer, error) {
	if len(arns) > maxLayers {
		return nil, invalid("Cannot reference more than 5 layers.")
	}
	s.layers.mu.Lock()
	defer s.layers.mu.Unlock()
	list, seen := make([]Layer, len(arns)), map[string]string{}
	var content []string
	for i, arn := range arns {
		n, err := ParseLayer(aws.Scope{}, arn)
		if err != nil || n.Version == 0 {
			return nil, invalid("Layer version %s does not exist.", arn)
		}
		_, v, err := s.layers.find(n)
		public := err != nil && runtimes.PublicLayer(arn) // its packages come when a function imports them
		if err != nil && !public {
			return nil, invalid("Layer version %s does not exist.", arn)
		}
		if other, twice := seen[n.arn()]; twice {
			return nil, invalid("Two different versions of the same layer are not allowed to be referenced in the same function. %s and %s are versions of the same layer.",
				other, arn)
		}
		seen[n.arn()] = arn
		if public {
			list[i] = Layer{Arn: arn}
			continue
		}
		list[i] = Layer{arn, v.CodeSize}
		content = append(content, filepath.Join(s.layers.layerDir(n.Scope, n.Name), "code", hexOf(v.CodeSha256)))
	}
	return list, s.assemble(list, content)
}

// optOf returns the directory of the layers' merged files, which is /opt on AWS. The content of a layer version never
// changes.
func (s *Service) optOf(list []Layer) string {
	arns := make([]string, len(list))
	for i, l := range list {
		arns[i] = l.Arn
	}
	sum := sha256.Sum256([]byte(strings.Join(arns, " ")))
	return filepath.Join(s.dir, "opt", hex.EncodeToString(sum[:]))
}

// assemble merges the files of layers into one directory; later layers override earlier ones. Files are hard links
// where the file system supports them.
func (s *Service) assemble(list []Layer, content []string) error {
	if len(list) == 0 {
		return nil
	}
	final := s.optOf(list)
	if _, err := os.Stat(final); err == nil {
		return nil
	}
	temp, err := os.MkdirTemp(filepath.Join(s.dir, "tmp"), "opt-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	if err := os.Chmod(temp, ownerfs.Dir); err != nil {
		return err
	}
	for _, dir := range content {
		if err := overlay(dir, temp); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(final), ownerfs.Dir); err != nil {
		return err
	}
	return atomicfile.Move(temp, final)
}

// overlay copies the files of from over those of to.
func overlay(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		if d.IsDir() {
			if info, err := os.Lstat(target); err == nil && info.IsDir() {
				return nil
			}
			_ = os.Remove(target) // a file of an earlier layer, if any
			return os.Mkdir(target, ownerfs.Dir)
		}
		if err := os.RemoveAll(target); err != nil {
			return err
		}
		if d.Type()&fs.ModeSymlink != 0 {
			link, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(link, target) //nolint:gosec // as unpacked, which checked it
		}
		if os.Link(path, target) == nil { //nolint:gosec // as above
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path) //nolint:gosec // as above
		if err != nil {
			return err
		}
		return os.WriteFile(target, text, info.Mode().Perm())
	})
}

// sweepLayers removes the merged directories that no function needs any more.
func (s *Service) sweepLayers() error {
	needed := map[string]bool{}
	for _, a := range s.areas {
		for _, r := range a.functions {
			for _, c := range r.all() {
				needed[filepath.Base(s.optOf(c.Layers))] = true
			}
		}
	}
	opt := filepath.Join(s.dir, "opt")
	entries, err := os.ReadDir(opt)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !needed[e.Name()] {
			if err := os.RemoveAll(filepath.Join(opt, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// layerVariables adds to env the variables that layers need: the search paths for interpreters, programs and
// libraries, and STEPBACK_LAMBDA_OPT, which holds the merged directory. Variables that the function sets itself are
// kept.
func (s *Service) layerVariables(c *Configuration, env map[string]string) {
	if len(c.Layers) == 0 {
		return
	}
	opt := s.optOf(c.Layers)
	node := strings.TrimSuffix(strings.TrimPrefix(c.Runtime, "nodejs"), ".x")
	for name, paths := range map[string][]string{
		"STEPBACK_LAMBDA_OPT": {opt},
		"PATH":                {filepath.Join(opt, "bin")},
		"LD_LIBRARY_PATH":     {filepath.Join(opt, "lib")},
		"PYTHONPATH": {filepath.Join(opt, "python"),
			filepath.Join(opt, "python", "lib", c.Runtime, "site-packages")},
		"NODE_PATH": {filepath.Join(opt, "nodejs", "node_modules"),
			filepath.Join(opt, "nodejs", "node"+node, "node_modules")},
	} {
		before, given := env[name]
		if !given && name == "PATH" {
			before = os.Getenv("PATH")
		}
		if before != "" {
			paths = append(paths, before)
		}
		env[name] = strings.Join(paths, string(os.PathListSeparator))
	}
}
