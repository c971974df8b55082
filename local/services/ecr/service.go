package ecr

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/engine/clock"
	"stepback/local/services/documents"
)

// Options are the settings of a Service. Documents and Clock are required.
type Options struct {
	// Documents stores the repositories, in the table ecr.
	Documents *documents.Store
	// Clock provides the creation times of repositories.
	Clock *clock.Clock
	// Scope is the account and region for requests that name none.
	Scope aws.Scope
	// Log receives rejected requests; nil discards them.
	Log *slog.Logger
}

// Service is a local ECR. It is safe for concurrent use.
type Service struct {
	opts  Options
	table *documents.Table
	mu    sync.Mutex // serialises changes
}

// New returns a service for the repositories in the store.
func New(o Options) *Service { return &Service{opts: o, table: o.Documents.Table("ecr")} }

// Handler serves the API.
func (s *Service) Handler() *server.Service {
	return server.Must(server.Config{Model: "ecr", Operations: s.operations(), Partly: partly, Accepted: accepted,
		Default: s.opts.Scope, Log: s.opts.Log,
		Invalid: "InvalidParameterException"})
}

func (s *Service) operations() map[string]server.Operation {
	return map[string]server.Operation{
		"CreateRepository":              server.Handle(s.createRepository),
		"DescribeRepositories":          server.Handle(s.describeRepositories),
		"DeleteRepository":              server.Handle(s.deleteRepository),
		"SetRepositoryPolicy":           server.Handle(s.setRepositoryPolicy),
		"GetRepositoryPolicy":           server.Handle(s.getRepositoryPolicy),
		"DeleteRepositoryPolicy":        server.Handle(s.deleteRepositoryPolicy),
		"PutLifecyclePolicy":            server.Handle(s.putLifecyclePolicy),
		"GetLifecyclePolicy":            server.Handle(s.getLifecyclePolicy),
		"DeleteLifecyclePolicy":         server.Handle(s.deleteLifecyclePolicy),
		"PutImageTagMutability":         server.Handle(s.putImageTagMutability),
		"PutImageScanningConfiguration": server.Handle(s.putImageScanningConfiguration),
		"TagResource":                   server.Handle(s.tagResource),
		"UntagResource":                 server.Handle(s.untagResource),
		"ListTagsForResource":           server.Handle(s.listTagsForResource),
		"ListImages":                    server.Handle(s.listImages),
	}
}

// storedRepository is the stored form of a repository.
type storedRepository struct {
	Repository repository
	Policy     string            `json:",omitempty"`
	Lifecycle  string            `json:",omitempty"`
	Tags       map[string]string `json:",omitempty"`
}

// repository is a repository as returned in responses.
type repository struct {
	ARN        string      `json:"repositoryArn"`
	Registry   string      `json:"registryId"`
	Name       string      `json:"repositoryName"`
	URI        string      `json:"repositoryUri"`
	Created    server.Time `json:"createdAt"`
	Mutability string      `json:"imageTagMutability"`
	Exclusions []exclusion `json:"imageTagMutabilityExclusionFilters,omitempty"`
	Scanning   scanning    `json:"imageScanningConfiguration"`
	Encryption encryption  `json:"encryptionConfiguration"`
}

type exclusion struct {
	Type  string `json:"filterType"`
	Value string `json:"filter"`
}

type scanning struct {
	OnPush bool `json:"scanOnPush"`
}

type encryption struct {
	Type string `json:"encryptionType"`
	Key  string `json:"kmsKey,omitempty"`
}

type tag struct{ Key, Value string }

// repositoryRequest is a request about a repository.
type repositoryRequest struct {
	Registry string `json:"registryId"`
	Name     string `json:"repositoryName"`
}

func key(scope aws.Scope, name string) string { return scope.Account + "/" + scope.Region + "/" + name }

// of returns the scope of a request, which may name another registry.
func (o *repositoryRequest) of(scope aws.Scope) aws.Scope {
	scope.Account = cmp.Or(o.Registry, scope.Account)
	return scope
}

func refuse(code, format string, args ...any) error {
	return &aws.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// find returns a repository, or a not found error.
func (s *Service) find(scope aws.Scope, name string) (*storedRepository, error) {
	text, found, err := s.table.Get(key(scope, name))
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, refuse("RepositoryNotFoundException", "The repository with name '%s' does not exist in the registry with id '%s'",
			name, scope.Account)
	}
	k := new(storedRepository)
	return k, json.Unmarshal(text, k)
}

// change runs f under the lock and waits until its changes are on disk.
func (s *Service) change(f func(*documents.Batch) error) error {
	return s.opts.Documents.Change(&s.mu, f)
}

// changes changes one repository.
func (s *Service) changes(scope aws.Scope, name string, f func(*storedRepository) error) error {
	return s.change(func(b *documents.Batch) error {
		k, err := s.find(scope, name)
		if err == nil {
			err = f(k)
		}
		if err == nil {
			err = s.put(b, scope, k)
		}
		return err
	})
}

func (s *Service) put(b *documents.Batch, scope aws.Scope, k *storedRepository) error {
	text, err := json.Marshal(k)
	if err == nil {
		b.Put(s.table, key(scope, k.Repository.Name), text)
	}
	return err
}

type createRequest struct {
	repositoryRequest
	Tags       []tag       `json:"tags"`
	Mutability string      `json:"imageTagMutability"`
	Exclusions []exclusion `json:"imageTagMutabilityExclusionFilters"`
	Scanning   scanning    `json:"imageScanningConfiguration"`
	Encryption encryption  `json:"encryptionConfiguration"`
}

type repositoryAnswer struct {
	Repository repository `json:"repository"`
}

func (s *Service) createRepository(_ context.Context, scope aws.Scope, in *createRequest) (answer *repositoryAnswer,
	err error) {
	scope = in.of(scope)
	return answer, s.change(func(b *documents.Batch) error {
		if _, found, err := s.table.Get(key(scope, in.Name)); err != nil || found {
			if err == nil {
				err = refuse("RepositoryAlreadyExistsException", "The repository with name '%s' already exists in the registry with "+
					"id '%s'", in.Name, scope.Account)
			}
			return err
		}
		k := &storedRepository{Repository: repository{
			ARN: scope.ARN("ecr", "repository/"+in.Name), Registry: scope.Account, Name: in.Name,
			URI:     scope.Account + ".dkr.ecr." + scope.Region + "." + aws.Domain(scope.Region) + "/" + in.Name,
			Created: server.Time(s.opts.Clock.Now()), Mutability: cmp.Or(in.Mutability, "MUTABLE"), Exclusions: in.Exclusions,
			Scanning: in.Scanning, Encryption: encryption{cmp.Or(in.Encryption.Type, "AES256"), in.Encryption.Key},
		}}
		k.addTags(in.Tags)
		answer = &repositoryAnswer{k.Repository}
		return s.put(b, scope, k)
	})
}

type describeRequest struct {
	Registry   string   `json:"registryId"`
	Names      []string `json:"repositoryNames"`
	MaxResults int      `json:"maxResults"`
	NextToken  string   `json:"nextToken"`
}

type describeAnswer struct {
	Repositories []repository `json:"repositories"`
	NextToken    string       `json:"nextToken,omitempty"`
}

func (s *Service) describeRepositories(_ context.Context, scope aws.Scope, in *describeRequest) (*describeAnswer, error) {
	const usual = 100
	scope = (&repositoryRequest{Registry: in.Registry}).of(scope)
	all := []repository{}
	for _, name := range in.Names {
		k, err := s.find(scope, name)
		if err != nil {
			return nil, err
		}
		all = append(all, k.Repository)
	}
	if len(in.Names) > 0 {
		return &describeAnswer{Repositories: all}, nil
	}
	if err := s.table.Scan(key(scope, ""), func(_ string, text []byte) error {
		var k storedRepository
		err := json.Unmarshal(text, &k)
		all = append(all, k.Repository)
		return err
	}); err != nil {
		return nil, err
	}
	page, next, ok := aws.Page(aws.NewListing(s.opts.Clock.Now(), "repositories", scope.Account, scope.Region), in.NextToken,
		cmp.Or(in.MaxResults, usual), all, func(r repository) string { return r.Name })
	if !ok {
		return nil, refuse("InvalidParameterException", "Invalid parameter at 'nextToken' failed to satisfy constraint: 'invalid token'")
	}
	return &describeAnswer{page, next}, nil
}

// deleteRepository deletes a repository. It has no images, so force does not matter.
func (s *Service) deleteRepository(_ context.Context, scope aws.Scope, in *repositoryRequest) (answer *repositoryAnswer, err error) {
	scope = in.of(scope)
	return answer, s.change(func(b *documents.Batch) error {
		k, err := s.find(scope, in.Name)
		if err == nil {
			answer = &repositoryAnswer{k.Repository}
			b.Delete(s.table, key(scope, in.Name))
		}
		return err
	})
}

func (k *storedRepository) addTags(tags []tag) {
	if k.Tags == nil && len(tags) > 0 {
		k.Tags = map[string]string{}
	}
	for _, t := range tags {
		k.Tags[t.Key] = t.Value
	}
}

type tagRequest struct {
	ARN  string   `json:"resourceArn"`
	Tags []tag    `json:"tags"`
	Keys []string `json:"tagKeys"`
}

// none is the response of operations without output.
type none struct{}

// tagged returns the scope and the name of the repository in a request about tags.
func tagged(in *tagRequest) (aws.Scope, string, error) {
	const resource = "repository/"
	arn, ok := aws.ParseARN(in.ARN)
	if !ok || arn.Service != "ecr" || len(arn.Resource) <= len(resource) || arn.Resource[:len(resource)] != resource {
		return aws.Scope{}, "", refuse("InvalidParameterException", "Invalid parameter at 'resourceArn' failed to satisfy "+
			"constraint: 'Invalid ARN'")
	}
	return arn.Scope(), arn.Resource[len(resource):], nil
}

func (s *Service) tagResource(_ context.Context, _ aws.Scope, in *tagRequest) (*none, error) {
	scope, name, err := tagged(in)
	if err != nil {
		return nil, err
	}
	return &none{}, s.changes(scope, name, func(k *storedRepository) error {
		k.addTags(in.Tags)
		return nil
	})
}

func (s *Service) untagResource(_ context.Context, _ aws.Scope, in *tagRequest) (*none, error) {
	scope, name, err := tagged(in)
	if err != nil {
		return nil, err
	}
	return &none{}, s.changes(scope, name, func(k *storedRepository) error {
		for _, key := range in.Keys {
			delete(k.Tags, key)
		}
		return nil
	})
}

type tagsAnswer struct {
	Tags []tag `json:"tags"`
}

func (s *Service) listTagsForResource(_ context.Context, _ aws.Scope, in *tagRequest) (*tagsAnswer, error) {
	scope, name, err := tagged(in)
	if err != nil {
		return nil, err
	}
	k, err := s.find(scope, name)
	if err != nil {
		return nil, err
	}
	answer := &tagsAnswer{[]tag{}}
	for _, name := range slices.Sorted(maps.Keys(k.Tags)) {
		answer.Tags = append(answer.Tags, tag{name, k.Tags[name]})
	}
	return answer, nil
}

type imagesAnswer struct {
	Images []struct{} `json:"imageIds"`
}

func (s *Service) listImages(_ context.Context, scope aws.Scope, in *repositoryRequest) (*imagesAnswer, error) {
	_, err := s.find(in.of(scope), in.Name)
	return &imagesAnswer{[]struct{}{}}, err
}

// accepted lists the members of requests that have no effect, and why.
//
//nolint:gosec // no credentials
var accepted = map[string]map[string]string{
	"DeleteRepository": {
		"force": "repositories have no images",
	},
	"ListImages": {
		"filter":     "repositories have no images",
		"maxResults": "repositories have no images",
		"nextToken":  "repositories have no images",
	},
	"SetRepositoryPolicy": {
		"force": "policies are not checked for a lockout",
	},
}
