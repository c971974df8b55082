package functions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"stepback/aws"
	"stepback/internal/ownerfs"
	"stepback/local/services/inventory"
)

// LayerContent describes the package of a layer version.
type LayerContent struct {
	CodeSha256 string
	CodeSize   int64
}

// LayerVersion is a layer version as the API returns it (GetLayerVersionResponse in Lambda's model, without the
// content's location).
type LayerVersion struct {
	LayerArn                string
	LayerVersionArn         string
	Version                 int64
	Description             string
	CreatedDate             string
	CompatibleRuntimes      []string `json:",omitempty"`
	CompatibleArchitectures []string `json:",omitempty"`
	LicenseInfo             string   `json:",omitempty"`
	LayerContent
}

// LayerInput describes a layer version to publish.
type LayerInput struct {
	LayerName               string
	Description             string
	LicenseInfo             string
	CompatibleRuntimes      []string
	CompatibleArchitectures []string
	Content                 Code
}

// Layer is a layer of a function version, as the API returns it.
type Layer struct {
	Arn      string
	CodeSize int64
}

// layer is a layer as it is stored, without its content.
type layer struct {
	// Last is the number of the last published version, which may have been deleted since.
	Last     int64
	Versions []keptLayer
}

// keptLayer is a layer version with its policy.
type keptLayer struct {
	LayerVersion
	Policy *policy `json:",omitempty"`
}

// layers stores the layers of all scopes in layers/ACCOUNT/REGION/NAME/layer.json, with their content in the same
// directory.
type layers struct {
	dir   string
	files *inventory.Files
	mu    sync.Mutex // serializes changes
}

const layerFile = "layer.json"

func (l *layers) layerDir(scope aws.Scope, name string) string {
	return filepath.Join(l.dir, scope.Account, scope.Region, name)
}

// read returns a layer; it is empty if the layer does not exist. mu is held.
func (l *layers) read(scope aws.Scope, name string) (*layer, error) {
	path := filepath.Join(l.layerDir(scope, name), layerFile)
	text, err := l.files.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &layer{}, nil
	}
	if err != nil {
		return nil, err
	}
	found := new(layer)
	if err := json.Unmarshal(text, found); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", path, err)
	}
	return found, nil
}

// write saves a layer. mu is held.
func (l *layers) write(scope aws.Scope, name string, changed *layer) error {
	text, err := json.MarshalIndent(changed, "", " ")
	if err != nil {
		return err
	}
	dir := l.layerDir(scope, name)
	if err := os.MkdirAll(dir, ownerfs.Dir); err != nil {
		return err
	}
	return l.files.WriteFile(filepath.Join(dir, layerFile), text, 0o600)
}

// LayerName is a parsed name or ARN of a layer or a layer version. Version is 0 if none is named.
type LayerName struct {
	Scope   aws.Scope
	Name    string
	Version int64
}

// ParseLayer parses the name or ARN of a layer or a layer version; a bare name belongs to scope. The error is an
// *aws.Error.
func ParseLayer(scope aws.Scope, text string) (LayerName, error) {
	n := LayerName{Scope: scope, Name: text}
	a, ok := aws.ParseARN(text)
	if ok {
		parts := strings.Split(a.Resource, ":")
		if a.Service != "lambda" || len(parts) < 2 || len(parts) > 3 || parts[0] != "layer" {
			return n, invalid("%s is not the ARN of a layer", text)
		}
		n.Scope, n.Name = a.Scope(), parts[1]
		if len(parts) == 3 {
			version, err := strconv.ParseInt(parts[2], 10, 64)
			if err != nil || version < 1 {
				return n, invalid("%s is not the ARN of a layer", text)
			}
			n.Version = version
		}
	}
	if n.Name == "" || strings.ContainsAny(n.Name, "./\\: ") {
		return n, invalid("%q is not the name of a layer", n.Name)
	}
	return n, nil
}

func (n LayerName) arn() string { return n.Scope.ARN("lambda", "layer:"+n.Name) }

// PublishLayer publishes a layer version.
func (s *Service) PublishLayer(ctx context.Context, scope aws.Scope, in *LayerInput) (*LayerVersion, error) {
	n, err := ParseLayer(scope, in.LayerName)
	if err != nil {
		return nil, err
	}
	code, err := s.installIn(ctx, filepath.Join(s.layers.layerDir(n.Scope, n.Name), "code"), &in.Content)
	if err != nil {
		return nil, err
	}
	s.layers.mu.Lock()
	defer s.layers.mu.Unlock()
	changed, err := s.layers.read(n.Scope, n.Name)
	if err != nil {
		return nil, err
	}
	changed.Last++
	made := LayerVersion{LayerArn: n.arn(), LayerVersionArn: n.arn() + ":" + strconv.FormatInt(changed.Last, 10),
		Version: changed.Last, Description: in.Description, CreatedDate: timestamp(s.opts.Now()),
		CompatibleRuntimes: in.CompatibleRuntimes, CompatibleArchitectures: in.CompatibleArchitectures,
		LicenseInfo: in.LicenseInfo, LayerContent: LayerContent{code.sha256, code.size}}
	changed.Versions = append(changed.Versions, keptLayer{LayerVersion: made})
	return &made, s.layers.write(n.Scope, n.Name, changed)
}

// LayerVersion returns a layer version.
func (s *Service) LayerVersion(n LayerName) (*LayerVersion, error) {
	s.layers.mu.Lock()
	defer s.layers.mu.Unlock()
	_, v, err := s.layers.find(n)
	if err != nil {
		return nil, err
	}
	return &v.LayerVersion, nil
}

// find returns a layer and one of its versions. mu is held.
func (l *layers) find(n LayerName) (*layer, *keptLayer, error) {
	found, err := l.read(n.Scope, n.Name)
	if err != nil {
		return nil, nil, err
	}
	for i := range found.Versions {
		if found.Versions[i].Version == n.Version {
			return found, &found.Versions[i], nil
		}
	}
	return nil, nil, notFound("The resource you requested does not exist.")
}

// openLayer opens the layer content with a hash, in hexadecimal.
func (s *Service) openLayer(scope aws.Scope, name, sha string) (*os.File, error) {
	n, err := ParseLayer(scope, name)
	if err != nil {
		return nil, err
	}
	s.layers.mu.Lock()
	defer s.layers.mu.Unlock()
	found, err := s.layers.read(scope, n.Name)
	if err != nil {
		return nil, err
	}
	for _, v := range found.Versions {
		if hexOf(v.CodeSha256) == sha {
			return openPackage(filepath.Join(s.layers.layerDir(scope, n.Name), "code", sha+packageSuffix))
		}
	}
	return nil, fs.ErrNotExist
}

// LayerVersions returns the versions of a layer, newest first.
func (s *Service) LayerVersions(n LayerName) ([]LayerVersion, error) {
	s.layers.mu.Lock()
	defer s.layers.mu.Unlock()
	found, err := s.layers.read(n.Scope, n.Name)
	if err != nil {
		return nil, err
	}
	list := make([]LayerVersion, 0, len(found.Versions))
	for _, v := range slices.Backward(found.Versions) {
		list = append(list, v.LayerVersion)
	}
	return list, nil
}

// Layers returns the names of the layers of a scope that have versions.
func (s *Service) Layers(scope aws.Scope) ([]string, error) {
	var names []string
	dir := filepath.Join(s.layers.dir, scope.Account, scope.Region)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	s.layers.mu.Lock()
	defer s.layers.mu.Unlock()
	err := eachDirectory(dir, func(name string) error {
		found, err := s.layers.read(scope, name)
		if err == nil && len(found.Versions) > 0 {
			names = append(names, name)
		}
		return err
	})
	return names, err
}

// DeleteLayer deletes a layer version. It succeeds if the version does not exist. Functions that use the version keep
// it.
func (s *Service) DeleteLayer(n LayerName) error {
	s.layers.mu.Lock()
	defer s.layers.mu.Unlock()
	found, gone, err := s.layers.find(n)
	var refused *aws.Error
	if errors.As(err, &refused) {
		return nil
	}
	if err != nil {
		return err
	}
	sha := gone.CodeSha256
	found.Versions = slices.DeleteFunc(found.Versions, func(v keptLayer) bool { return v.Version == n.Version })
	if err := s.layers.write(n.Scope, n.Name, found); err != nil {
		return err
	}
	if slices.ContainsFunc(found.Versions, func(v keptLayer) bool { return v.CodeSha256 == sha }) {
		return nil
	}
	code := filepath.Join(s.layers.layerDir(n.Scope, n.Name), "code", hexOf(sha))
	return errors.Join(os.RemoveAll(code), os.RemoveAll(code+packageSuffix))
}
