package functions

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stepback/aws"
	"stepback/internal/atomicfile"
	"stepback/local/services/inventory"
	"stepback/local/services/lambda/deployment"
)

// verifyCode compares unpacked code with its package, and unpacks it again if a file is missing or changed. The error
// is an *inventory.DamagedError if the package itself is damaged, too.
func (s *Service) verifyCode(code string) error {
	archive := code + packageSuffix
	changed, err := deployment.Differs(code, archive)
	if err == nil && changed == "" {
		return nil
	}
	if err := verifyPackage(archive); err != nil {
		if !exists(archive) && exists(code) {
			s.opts.Log.Warn("the package of a function's code is missing; its code cannot be verified", "file", archive)
			return nil
		}
		return err
	}
	s.opts.Log.Warn("a file of a function's code is damaged; the package is unpacked again", "file", changed)
	temp, err := os.MkdirTemp(filepath.Join(s.dir, "tmp"), "code-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	info, err := os.Stat(archive)
	if err != nil {
		return err
	}
	fresh := filepath.Join(temp, "code")
	if err := unpack(archive, info.Size(), fresh); err != nil {
		return err
	}
	if err := os.RemoveAll(code); err != nil {
		return err
	}
	return atomicfile.Move(fresh, code)
}

// verifyPackage compares a deployment package with the hash that is its name.
func verifyPackage(archive string) error {
	f, err := os.Open(archive)
	if errors.Is(err, fs.ErrNotExist) {
		return &inventory.DamagedError{Path: archive, Why: "it is missing"}
	}
	if err != nil {
		return err
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return err
	}
	if found := hex.EncodeToString(hash.Sum(nil)); found+packageSuffix != filepath.Base(archive) {
		return &inventory.DamagedError{Path: archive, Why: "its SHA-256 hash is " + found}
	}
	return nil
}

// openPackage opens a deployment package and compares it with its hash.
func openPackage(archive string) (*os.File, error) {
	if err := verifyPackage(archive); err != nil {
		return nil, err
	}
	return os.Open(archive)
}

// verifyCodes verifies the code of a function's versions, and of their layers.
func (s *Service) verifyCodes(a *area, name string, r *record) error {
	for sha := range r.codes() {
		if err := s.verifyCode(a.codeDir(name, sha)); err != nil {
			return err
		}
	}
	for _, c := range r.all() {
		if err := s.verifyLayers(c.Layers); err != nil {
			return err
		}
	}
	return nil
}

// verifyLayers compares the merged files of layers with the layers' packages, and merges them again if they differ.
// Files of layers that have been deleted since cannot be verified.
func (s *Service) verifyLayers(list []Layer) error {
	if len(list) == 0 {
		return nil
	}
	s.layers.mu.Lock()
	defer s.layers.mu.Unlock()
	codes, packages := make([]string, len(list)), make([]string, len(list))
	for i, l := range list {
		n, err := ParseLayer(aws.Scope{}, l.Arn)
		if err != nil {
			return nil
		}
		_, v, err := s.layers.find(n)
		var gone *aws.Error
		if errors.As(err, &gone) {
			return nil
		}
		if err != nil {
			return err
		}
		codes[i] = filepath.Join(s.layers.layerDir(n.Scope, n.Name), "code", hexOf(v.CodeSha256))
		packages[i] = codes[i] + packageSuffix
	}
	changed, err := deployment.Differs(s.optOf(list), packages...)
	if err == nil && changed == "" {
		return nil
	}
	for _, code := range codes {
		if err := s.verifyCode(code); err != nil {
			return err
		}
	}
	s.opts.Log.Warn("a file of a function's layers is damaged; the layers are merged again", "file", changed)
	if err := os.RemoveAll(s.optOf(list)); err != nil {
		return err
	}
	return s.assemble(list, codes)
}

// Check reads the functions and layers in a directory and calls problem for each damaged file. files is the inventory
// that has them.
func Check(dir string, files *inventory.Files, problem func(error)) error {
	known, err := files.Below(dir)
	if err != nil {
		return err
	}
	for _, path := range known {
		err := files.Verify(path)
		if err == nil {
			err = checkPackages(files, path)
		}
		if err != nil {
			problem(err)
		}
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed in the meantime, or there are no functions
		}
		if err != nil {
			return err
		}
		below, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			switch below {
			case "runtimes", "packages", "tmp", "events", "opt": // made again when needed, or a store of its own
				return filepath.SkipDir
			}
			return nil
		}
		switch name := d.Name(); {
		case (name == recordFile || name == layerFile) && !slices.Contains(known, path): // of an earlier version
			if _, err := files.ReadFile(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				problem(err)
			}
		case strings.HasSuffix(name, packageSuffix) && filepath.Base(filepath.Dir(path)) == "code":
			if err := checkCode(path); err != nil {
				problem(err)
			}
		}
		return nil
	})
}

// checkPackages checks that the packages of a function or a layer exist.
func checkPackages(files *inventory.Files, path string) error {
	text, err := files.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // removed in the meantime
	}
	if err != nil {
		return err
	}
	var r record
	var l layer
	hashes := map[string]bool{}
	if filepath.Base(path) == layerFile {
		err = json.Unmarshal(text, &l)
		for _, v := range l.Versions {
			hashes[v.CodeSha256] = true
		}
	} else if err = json.Unmarshal(text, &r); err == nil {
		for sha := range r.codes() {
			hashes[sha] = true
		}
	}
	if err != nil {
		return &inventory.DamagedError{Path: path, Why: err.Error()}
	}
	for sha := range hashes {
		archive := filepath.Join(filepath.Dir(path), "code", hexOf(sha)+packageSuffix)
		if sha != "" && !exists(archive) {
			return &inventory.DamagedError{Path: archive, Why: "it is missing"}
		}
	}
	return nil
}

// checkCode checks a package and the code that was unpacked from it.
func checkCode(archive string) error {
	if err := verifyPackage(archive); err != nil {
		return err
	}
	changed, err := deployment.Differs(strings.TrimSuffix(archive, packageSuffix), archive)
	if err == nil && changed != "" {
		err = &inventory.DamagedError{Path: changed, Why: "it differs from the deployment package"}
	}
	return err
}

// Repair moves the functions and layers in a directory whose description or package is damaged below the directory
// aside, removes damaged code that the next start unpacks again, and calls tell for each.
func Repair(dir string, files *inventory.Files, aside string, tell func(error)) error {
	var damaged []error
	if err := Check(dir, files, func(err error) { damaged = append(damaged, err) }); err != nil {
		return err
	}
	return files.RepairEach(damaged, tell, func(path string) (string, error) {
		switch owner := filepath.Dir(path); {
		case filepath.Base(path) == recordFile:
			return "the function is lost", files.Aside(aside, owner)
		case filepath.Base(path) == layerFile:
			return "the layer is lost", files.Aside(aside, owner)
		case strings.HasSuffix(path, packageSuffix) && filepath.Base(owner) == "code":
			return "its function or layer is lost", files.Aside(aside, filepath.Dir(owner))
		}
		for code := path; code != dir; code = filepath.Dir(code) {
			if filepath.Base(filepath.Dir(code)) == "code" && exists(code+packageSuffix) {
				return "nothing is lost: the next start unpacks it from the package", os.RemoveAll(code)
			}
		}
		return "the file is lost", files.Aside(aside, path)
	})
}
