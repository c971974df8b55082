package functions

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"stepback/aws"
	"stepback/internal/atomicfile"
)

// LayerContent is where the package of a layer's version is.
type LayerContent struct {
	CodeSha256 string
	CodeSize   int64
}

// LayerVersion is a version of a layer as the API shows it (GetLayerVersionResponse in Lambda's model, without where
// its content can be read).
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

// LayerInput describes a version of a layer that is to be.
type LayerInput struct {
	LayerName               string
	Description             string
	LicenseInfo             string
	CompatibleRuntimes      []string
	CompatibleArchitectures []string
	Content                 Code
}

// Layer is a layer that a version of a function has, as the API shows it.
type Layer struct {
	Arn      string
	CodeSize int64
}

// layer is all that is kept of a layer but its content.
type layer struct {
	// Last is the number of the version that was published last, which may have been deleted since.
	Last     int64
	Versions []keptLayer
}

// keptLayer is a version of a layer with what is permitted for it.
type keptLayer struct {
	LayerVersion
	Policy *policy `json:",omitempty"`
}

// layers keeps the layers of all scopes: layers/ACCOUNT/REGION/NAME/layer.json and their content beside.
type layers struct {
	dir string
	mu  sync.Mutex // one change at a time
}

const layerFile = "layer.json"

func (l *layers) layerDir(scope aws.Scope, name string) string {
	return filepath.Join(l.dir, scope.Account, scope.Region, name)
}

// read reads a layer; an empty one when there is none. mu is held.
func (l *layers) read(scope aws.Scope, name string) (*layer, error) {
	path := filepath.Join(l.layerDir(scope, name), layerFile)
	text, err := os.ReadFile(path)
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

// write keeps a layer. mu is held.
func (l *layers) write(scope aws.Scope, name string, changed *layer) error {
	text, err := json.MarshalIndent(changed, "", " ")
	if err != nil {
		return err
	}
	dir := l.layerDir(scope, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, layerFile), text, 0o600)
}

// LayerName is what the name or ARN of a layer, or of a version of one, says. Version is 0 unless it is named.
type LayerName struct {
	Scope   aws.Scope
	Name    string
	Version int64
}

// ParseLayer reads the name or ARN of a layer or a version of one; a name is of the scope. An error is an *aws.Error.
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

// PublishLayer makes a version of a layer.
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

// LayerVersion returns a version of a layer.
func (s *Service) LayerVersion(n LayerName) (*LayerVersion, error) {
	s.layers.mu.Lock()
	defer s.layers.mu.Unlock()
	_, v, err := s.layers.find(n)
	if err != nil {
		return nil, err
	}
	return &v.LayerVersion, nil
}

// find finds a version of a layer. mu is held.
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

// openLayer opens the content of a layer that has a hash, in hexadecimal.
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
			return os.Open(filepath.Join(s.layers.layerDir(scope, n.Name), "code", sha+packageSuffix))
		}
	}
	return nil, fs.ErrNotExist
}

// LayerVersions returns the versions of a layer, the newest first.
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

// DeleteLayer removes a version of a layer, which need not be there. Functions that have it keep it.
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

// LayerPermissionInput describes a statement for a version of a layer.
type LayerPermissionInput struct {
	StatementID    string `json:"StatementId"`
	Action         string
	Principal      string
	OrganizationID string `json:"OrganizationId"`
	RevisionID     string `json:"RevisionId"`
}

// AddLayerPermission adds a statement to the policy of a version of a layer, and returns it with the policy's revision.
// It is kept; nobody is asked for it.
func (s *Service) AddLayerPermission(n LayerName, in *LayerPermissionInput) (*Statement, string, error) {
	p := &PermissionInput{StatementID: in.StatementID, Action: in.Action, Principal: in.Principal,
		PrincipalOrgID: in.OrganizationID}
	added, err := p.statement(n.arn() + ":" + strconv.FormatInt(n.Version, 10))
	if err != nil {
		return nil, "", err
	}
	revision, err := s.changeLayerPolicy(n, in.RevisionID, func(old *policy) ([]Statement, error) {
		if old.index(added.Sid) >= 0 {
			return nil, conflict("The statement id (%s) provided already exists. Please provide a new statement id, or remove the existing statement.",
				added.Sid)
		}
		return append(slices.Clone(old.Statements), *added), nil
	})
	return added, revision, err
}

// RemoveLayerPermission removes a statement.
func (s *Service) RemoveLayerPermission(n LayerName, sid, revision string) error {
	_, err := s.changeLayerPolicy(n, revision, func(old *policy) ([]Statement, error) {
		i := old.index(sid)
		if i < 0 {
			return nil, notFound("Statement %s is not found in resource policy.", sid)
		}
		return slices.Delete(slices.Clone(old.Statements), i, i+1), nil
	})
	return err
}

// changeLayerPolicy replaces the statements of a version's policy, if it has the revision that the caller believes it
// has, and returns the new one.
func (s *Service) changeLayerPolicy(n LayerName, revision string, edit func(*policy) ([]Statement, error)) (string,
	error) {
	s.layers.mu.Lock()
	defer s.layers.mu.Unlock()
	found, v, err := s.layers.find(n)
	if err != nil {
		return "", err
	}
	old := cmp.Or(v.Policy, &policy{})
	if revision != "" && revision != old.RevisionID {
		return "", stalePolicy()
	}
	statements, err := edit(old)
	if err != nil {
		return "", err
	}
	changed := &policy{RevisionID: aws.NewID(), Statements: statements}
	text, err := changed.document()
	if err != nil {
		return "", err
	}
	if len(text) > maxPolicy {
		return "", &aws.Error{Code: "PolicyLengthExceededException", Status: http.StatusBadRequest,
			Message: fmt.Sprintf("The final policy size (%d) is bigger than the limit (%d).", len(text), maxPolicy)}
	}
	v.Policy = changed
	if len(statements) == 0 {
		v.Policy = nil
	}
	return changed.RevisionID, s.layers.write(n.Scope, n.Name, found)
}

// LayerPolicy returns the policy of a version of a layer as JSON, with its revision.
func (s *Service) LayerPolicy(n LayerName) (document, revision string, err error) {
	s.layers.mu.Lock()
	defer s.layers.mu.Unlock()
	_, v, err := s.layers.find(n)
	if err != nil {
		return "", "", err
	}
	if v.Policy == nil {
		return "", "", notFound("No policy is associated with the given resource.")
	}
	document, err = v.Policy.document()
	return document, v.Policy.RevisionID, err
}

// maxLayers is how many layers a function may have.
const maxLayers = 5

// layersOf finds the layers of a function's configuration, and brings their files together.
func (s *Service) layersOf(arns []string) ([]Layer, error) {
	if len(arns) > maxLayers {
		return nil, invalid("Cannot reference more than 5 layers.")
	}
	s.layers.mu.Lock()
	defer s.layers.mu.Unlock()
	list, seen := make([]Layer, len(arns)), map[string]string{}
	content := make([]string, len(arns))
	for i, arn := range arns {
		n, err := ParseLayer(aws.Scope{}, arn)
		if err != nil || n.Version == 0 {
			return nil, invalid("Layer version %s does not exist.", arn)
		}
		_, v, err := s.layers.find(n)
		if err != nil {
			return nil, invalid("Layer version %s does not exist.", arn)
		}
		if other, twice := seen[n.arn()]; twice {
			return nil, invalid("Two different versions of the same layer are not allowed to be referenced in the same function. %s and %s are versions of the same layer.",
				other, arn)
		}
		seen[n.arn()] = arn
		list[i] = Layer{arn, v.CodeSize}
		content[i] = filepath.Join(s.layers.layerDir(n.Scope, n.Name), "code", hexOf(v.CodeSha256))
	}
	return list, s.assemble(list, content)
}

// optOf is where the files of layers are together: what is in /opt on AWS. The content of a layer's version never
// changes.
func (s *Service) optOf(list []Layer) string {
	arns := make([]string, len(list))
	for i, l := range list {
		arns[i] = l.Arn
	}
	sum := sha256.Sum256([]byte(strings.Join(arns, " ")))
	return filepath.Join(s.dir, "opt", hex.EncodeToString(sum[:]))
}

// assemble brings the files of layers together, those of later ones over those of earlier ones. Files are links to the
// same content where the file system can have them.
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
	if err := os.Chmod(temp, 0o755); err != nil {
		return err
	}
	for _, dir := range content {
		if err := overlay(dir, temp); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(final), 0o755); err != nil {
		return err
	}
	return atomicfile.Move(temp, final)
}

// overlay puts the files of one directory over those of another.
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
			_ = os.Remove(target) // a file of an earlier layer, or nothing
			return os.Mkdir(target, 0o755)
		}
		if err := os.RemoveAll(target); err != nil {
			return err
		}
		if d.Type()&fs.ModeSymlink != 0 {
			link, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(link, target) //nolint:gosec // as unpacked, which checked it; nobody else has the directory
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

// sweepLayers removes what was brought together for functions that are not there any more.
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

// layerVariables add what layers bring to the environment of a function: where interpreters, programs and libraries
// look, and STEPBACK_LAMBDA_OPT, the directory itself. What the function sets itself stays.
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
