package standin

import (
	"archive/zip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"stepback/local/services/lambda/deployment"
	"stepback/local/services/lambda/runner"
)

// timeout is the maximum duration of an invocation of a bootstrap, which is Lambda's maximum.
const timeout = 15 * time.Minute

// add registers one stand-in. target is a URL, a bootstrap that the runner runs, or otherwise a command.
func (s *Set) add(name, target string) error {
	if s.named[name] != nil {
		return errors.New("the function has been given before")
	}
	if strings.HasPrefix(target, "http://") || strings.HasPrefix(target, "https://") {
		in, err := newPoster(target)
		s.named[name] = in
		return err
	}
	bootstrap, err := s.bootstrap(target)
	if err != nil {
		return err
	}
	if bootstrap == "" {
		s.named[name] = &command{line: target, env: s.env, stderr: s.output}
		return nil
	}
	err = s.bootstraps.Register(runner.Function{
		Name: name, Command: []string{bootstrap}, Dir: filepath.Dir(bootstrap), Env: s.env, Timeout: timeout,
	})
	s.named[name] = s.bootstraps
	return err
}

// bootstrap returns the path of the bootstrap binary that target refers to: a file of that name, a directory or a zip
// file that contains one, or the path after "bootstrap:". It returns "" if target is something else.
func (s *Set) bootstrap(target string) (string, error) {
	path, said := strings.CutPrefix(target, "bootstrap:")
	info, err := os.Stat(path)
	switch {
	case said && err != nil:
		return "", err
	case err != nil:
		return "", nil //nolint:nilerr // it is no file, so it is a command
	case info.IsDir():
		path = filepath.Join(path, "bootstrap")
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("%s: %w", path, fs.ErrNotExist)
		}
	case strings.HasSuffix(path, ".zip"):
		if path, err = s.unpack(path); err != nil {
			return "", err
		}
	case !said && filepath.Base(path) != "bootstrap":
		return "", nil
	}
	return filepath.Abs(path)
}

// unpack unpacks a deployment package and returns the path of its bootstrap.
func (s *Set) unpack(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "stepback-function-")
	if err != nil {
		return "", err
	}
	s.unpacked = append(s.unpacked, dir)
	if err := deployment.Unpack(file, info.Size(), dir); err != nil {
		if errors.Is(err, zip.ErrFormat) {
			err = fmt.Errorf("%s is not a zip file", path)
		}
		return "", err
	}
	bootstrap := filepath.Join(dir, "bootstrap")
	if _, err := os.Stat(bootstrap); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s has no bootstrap; functions of other runtimes run under stepback serve", path)
	}
	return bootstrap, nil
}
