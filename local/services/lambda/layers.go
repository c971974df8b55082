package lambda

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"

	"stepback/aws/server"
	"stepback/local/services/lambda/functions"
)

// layerContent is the content of a layer version with its location.
type layerContent struct {
	functions.LayerContent
	Location string
}

type layerVersion struct {
	*functions.LayerVersion
	Content layerContent
}

// shownLayer returns a layer version with the location of its content.
func (q *request) shownLayer(v *functions.LayerVersion, n functions.LayerName) layerVersion {
	content := layerContent{LayerContent: v.LayerContent}
	if sha, err := base64.StdEncoding.DecodeString(v.CodeSha256); err == nil {
		u := url.URL{Scheme: "http", Host: q.HTTP.Host, Path: codePath + n.Scope.Account + "/" + n.Scope.Region + "/layer:" +
			n.Name + "/" + hex.EncodeToString(sha) + ".zip"}
		content.Location = u.String()
	}
	return layerVersion{v, content}
}

// layerName returns the layer or the layer version that a request names.
func (q *request) layerName() (functions.LayerName, error) {
	n, err := functions.ParseLayer(q.Scope, q.text("LayerName"))
	if v, ok := q.Input.Get("VersionNumber"); ok {
		n.Version, _ = v.Int()
	}
	return n, err
}

func (s *Service) publishLayer(q *request) (*server.Answer, error) {
	in, err := decode[functions.LayerInput](q)
	if err != nil {
		return nil, err
	}
	v, err := s.functions.PublishLayer(q.ctx, q.Scope, in)
	if err != nil {
		return nil, err
	}
	n, err := functions.ParseLayer(q.Scope, v.LayerVersionArn)
	return answer(q.shownLayer(v, n), err)
}

func (s *Service) getLayer(q *request) (*server.Answer, error) {
	n, err := q.layerName()
	if err != nil {
		return nil, err
	}
	return s.layer(q, n)
}

func (s *Service) getLayerByArn(q *request) (*server.Answer, error) {
	n, err := functions.ParseLayer(q.Scope, q.text("Arn"))
	if err != nil {
		return nil, err
	}
	return s.layer(q, n)
}

func (s *Service) layer(q *request, n functions.LayerName) (*server.Answer, error) {
	v, err := s.functions.LayerVersion(n)
	if err != nil {
		return nil, err
	}
	return answer(q.shownLayer(v, n), nil)
}

func (s *Service) deleteLayer(q *request) (*server.Answer, error) {
	n, err := q.layerName()
	if err != nil {
		return nil, err
	}
	return done(s.functions.DeleteLayer(n))
}

// fits reports whether a layer version matches the filters of a list request.
func (q *request) fits(v *functions.LayerVersion) bool {
	runtime, architecture := q.text("CompatibleRuntime"), q.text("CompatibleArchitecture")
	return (runtime == "" || slices.Contains(v.CompatibleRuntimes, runtime)) &&
		(architecture == "" || slices.Contains(v.CompatibleArchitectures, architecture))
}

func (s *Service) listLayerVersions(q *request) (*server.Answer, error) {
	n, err := q.layerName()
	if err != nil {
		return nil, err
	}
	list, err := s.functions.LayerVersions(n)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(v functions.LayerVersion) bool { return !q.fits(&v) })
	page, next, err := pageOf(q, list, func(v functions.LayerVersion) string {
		const newestFirst = 1 << 40
		return strconv.FormatInt(newestFirst-v.Version, 10)
	})
	return answer(struct {
		LayerVersions []functions.LayerVersion
		NextMarker    string `json:",omitempty"`
	}{page, next}, err)
}

// listedLayer is a layer with its newest matching version.
type listedLayer struct {
	LayerName, LayerArn   string
	LatestMatchingVersion functions.LayerVersion
}

func (s *Service) listLayers(q *request) (*server.Answer, error) {
	names, err := s.functions.Layers(q.Scope)
	if err != nil {
		return nil, err
	}
	var list []listedLayer
	for _, name := range names {
		versions, err := s.functions.LayerVersions(functions.LayerName{Scope: q.Scope, Name: name})
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(versions, func(v functions.LayerVersion) bool { return q.fits(&v) }); i >= 0 {
			list = append(list, listedLayer{name, versions[i].LayerArn, versions[i]})
		}
	}
	page, next, err := pageOf(q, list, func(l listedLayer) string { return l.LayerName })
	return answer(struct {
		Layers     []listedLayer
		NextMarker string `json:",omitempty"`
	}{page, next}, err)
}

func (s *Service) addLayerPermission(q *request) (*server.Answer, error) {
	n, err := q.layerName()
	if err != nil {
		return nil, err
	}
	in, err := decode[functions.LayerPermissionInput](q)
	if err != nil {
		return nil, err
	}
	added, revision, err := s.functions.AddLayerPermission(n, in)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(added)
	return answer(struct {
		Statement  string
		RevisionID string `json:"RevisionId"`
	}{string(text), revision}, err)
}

func (s *Service) removeLayerPermission(q *request) (*server.Answer, error) {
	n, err := q.layerName()
	if err != nil {
		return nil, err
	}
	return done(s.functions.RemoveLayerPermission(n, q.text("StatementId"), q.text("RevisionId")))
}

func (s *Service) getLayerPolicy(q *request) (*server.Answer, error) {
	n, err := q.layerName()
	if err != nil {
		return nil, err
	}
	document, revision, err := s.functions.LayerPolicy(n)
	return answer(struct {
		Policy     string
		RevisionID string `json:"RevisionId"`
	}{document, revision}, err)
}
