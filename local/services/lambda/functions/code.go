package functions

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/aws/smithy-go"

	"stepback/aws"
	"stepback/internal/atomicfile"
	"stepback/internal/ownerfs"
	"stepback/local/services/lambda/deployment"
)

// Code is the source of a deployment package: the request itself or S3.
type Code struct {
	ZipFile         []byte
	S3Bucket        string
	S3Key           string
	S3ObjectVersion string
	ImageURI        string `json:"ImageUri"`
}

// installed describes an unpacked deployment package.
type installed struct {
	sha256 string // base64, as the API shows it
	size   int64
}

func (a *area) codesDir(function string) string {
	return filepath.Join(a.functionDir(function), "code")
}

// codeDir returns the directory into which the code with a hash is unpacked. The package itself is stored in the
// file next to it.
func (a *area) codeDir(function, sha string) string {
	return filepath.Join(a.codesDir(function), hexOf(sha))
}

const packageSuffix = ".zip"

// hexOf converts a hash from base64, as in the API, to a file name.
func hexOf(sha string) string {
	b, err := base64.StdEncoding.DecodeString(sha)
	if err != nil {
		return "damaged"
	}
	return hex.EncodeToString(b)
}

// install unpacks a function's code, unless the same code exists already.
func (s *Service) install(ctx context.Context, a *area, function string, c *Code) (installed, error) {
	return s.installIn(ctx, a.codesDir(function), c)
}

// installIn unpacks code into a directory of packages, unless the same code exists already.
func (s *Service) installIn(ctx context.Context, dir string, c *Code) (installed, error) {
	temp, err := os.MkdirTemp(filepath.Join(s.dir, "tmp"), "code-")
	if err != nil {
		return installed{}, err
	}
	defer os.RemoveAll(temp)
	archive := filepath.Join(temp, "package"+packageSuffix)
	in, err := s.receive(ctx, c, archive)
	if err != nil {
		return installed{}, err
	}
	final := filepath.Join(dir, hexOf(in.sha256))
	if _, err := os.Stat(final); err == nil {
		return in, nil
	}
	if err := unpack(archive, in.size, filepath.Join(temp, "code")); err != nil {
		return installed{}, err
	}
	if err := os.MkdirAll(filepath.Dir(final), ownerfs.Dir); err != nil {
		return installed{}, err
	}
	if err := atomicfile.Move(archive, final+packageSuffix); err != nil {
		return installed{}, err
	}
	return in, atomicfile.Move(filepath.Join(temp, "code"), final)
}

// unpack extracts a package. Its errors have Lambda's wording with the reason added.
func unpack(archive string, size int64, dir string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := os.Mkdir(dir, ownerfs.Dir); err != nil {
		return err
	}
	err = deployment.Unpack(f, size, dir)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, deployment.ErrEmpty), errors.Is(err, deployment.ErrTooLarge):
		return invalid("%v", err)
	}
	return invalid("Could not unzip uploaded file. Please check your file, then try to upload again. (%v)", err)
}

// receive writes the package to the file path.
func (s *Service) receive(ctx context.Context, c *Code, path string) (installed, error) {
	body, err := s.open(ctx, c)
	if err != nil {
		return installed{}, err
	}
	defer body.Close()
	f, err := os.Create(path)
	if err != nil {
		return installed{}, err
	}
	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, hash), io.LimitReader(body, deployment.MaxUnzipped+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return installed{}, err
	}
	if n > deployment.MaxUnzipped {
		return installed{}, invalid("%v", deployment.ErrTooLarge)
	}
	return installed{base64.StdEncoding.EncodeToString(hash.Sum(nil)), n}, nil
}

// open returns a reader of the package.
func (s *Service) open(ctx context.Context, c *Code) (io.ReadCloser, error) {
	switch {
	case c.ImageURI != "":
		return nil, invalid("Container images do not run here; use a zip file of the code.")
	case len(c.ZipFile) > 0 && c.S3Bucket+c.S3Key != "", len(c.ZipFile) == 0 && (c.S3Bucket == "" || c.S3Key == ""):
		return nil, invalid("Please provide a source for function code: either ZipFile, or S3Bucket and S3Key.")
	case len(c.ZipFile) > 0:
		return io.NopCloser(bytes.NewReader(c.ZipFile)), nil
	case s.opts.Objects == nil:
		return nil, invalid("There is no S3 here to read the code from; send it as ZipFile.")
	}
	body, _, err := s.opts.Objects.Get(ctx, c.S3Bucket, c.S3Key, c.S3ObjectVersion, "")
	var said smithy.APIError
	if errors.As(err, &said) {
		return nil, invalid("Error occurred while GetObject. S3 Error Code: %s. S3 Error Message: %s", said.ErrorCode(),
			said.ErrorMessage())
	}
	if err != nil {
		return nil, invalid("Error occurred while GetObject of s3://%s/%s: %v", c.S3Bucket, c.S3Key, err)
	}
	return body, nil
}

// OpenCode opens a deployment package of a function or, for "layer:NAME", of a layer. sha is the package's SHA-256
// hash in hexadecimal. The caller closes the file.
func (s *Service) OpenCode(scope aws.Scope, function, sha string) (*os.File, error) {
	if name, ok := strings.CutPrefix(function, "layer:"); ok {
		return s.openLayer(scope, name, sha)
	}
	a, r, err := s.find(scope, function, "")
	if err != nil {
		return nil, err
	}
	for used := range r.codes() {
		if hexOf(used) == sha {
			return openPackage(a.codeDir(function, used) + packageSuffix)
		}
	}
	return nil, fs.ErrNotExist
}

// sweep removes code that no version needs and no process uses. Code that is still in use is removed at a later
// change, or at the next start.
func (a *area) sweep(function string, r *record) error {
	needed := map[string]bool{}
	for sha := range r.codes() {
		needed[hexOf(sha)] = true
	}
	entries, err := os.ReadDir(a.codesDir(function))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // built-in functions have no code directory
	}
	if err != nil {
		return fmt.Errorf("the code of the function %s: %w", function, err)
	}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), packageSuffix)
		if needed[name] || a.inUse(codeKey{function, base64Of(name)}) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(a.codesDir(function), e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func base64Of(name string) string {
	b, err := hex.DecodeString(name)
	if err != nil {
		return ""
	}
	return base64.StdEncoding.EncodeToString(b)
}
