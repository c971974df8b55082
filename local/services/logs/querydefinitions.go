package logs

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"stepback/aws"
	"stepback/local/services/documents"
)

type queryParameter struct {
	Name        string `json:"name"`
	Default     string `json:"defaultValue,omitempty"`
	Description string `json:"description,omitempty"`
}

// queryDefinition is a query definition as it is stored and described.
type queryDefinition struct {
	Language   string           `json:"queryLanguage"`
	ID         string           `json:"queryDefinitionId"`
	Name       string           `json:"name"`
	Query      string           `json:"queryString"`
	Modified   int64            `json:"lastModified"`
	Groups     []string         `json:"logGroupNames"`
	Parameters []queryParameter `json:"parameters,omitempty"`
}

// keptQuery is a query definition with the client token of the request that created it.
type keptQuery struct {
	queryDefinition
	ClientToken string `json:"clientToken,omitempty"`
}

type putQueryDefinitionRequest struct {
	Language    string           `json:"queryLanguage"`
	Name        string           `json:"name"`
	ID          string           `json:"queryDefinitionId"`
	Groups      []string         `json:"logGroupNames"`
	Query       string           `json:"queryString"`
	ClientToken string           `json:"clientToken"`
	Parameters  []queryParameter `json:"parameters"`
}

type putQueryDefinitionResponse struct {
	ID string `json:"queryDefinitionId"`
}

type describeQueryDefinitionsRequest struct {
	Language  string `json:"queryLanguage"`
	Prefix    string `json:"queryDefinitionNamePrefix"`
	Max       int    `json:"maxResults"`
	NextToken string `json:"nextToken"`
}

type describeQueryDefinitionsResponse struct {
	Queries   []queryDefinition `json:"queryDefinitions"`
	NextToken string            `json:"nextToken,omitempty"`
}

type deleteQueryDefinitionRequest struct {
	ID string `json:"queryDefinitionId"`
}

type deleteQueryDefinitionResponse struct {
	Success bool `json:"success"`
}

// queryKeys returns the key prefix of the query definitions of an account and region.
func queryKeys(scope aws.Scope) string { return "query/" + scope.Account + "/" + scope.Region + "/" }

func (s *Service) putQueryDefinition(_ context.Context, scope aws.Scope,
	r *putQueryDefinitionRequest) (*putQueryDefinitionResponse, error) {
	s.changes.Lock()
	defer s.changes.Unlock()
	all, err := s.queries(scope)
	if err != nil {
		return nil, err
	}
	same := func(q keptQuery) bool { return q.ID == r.ID }
	id := r.ID
	if id == "" {
		id = aws.NewID()
		same = func(q keptQuery) bool { return r.ClientToken != "" && q.ClientToken == r.ClientToken }
	}
	i := slices.IndexFunc(all, same)
	switch {
	case i >= 0 && r.ID == "":
		return &putQueryDefinitionResponse{all[i].ID}, nil // a repeated request
	case i < 0 && r.ID != "":
		return nil, errNoQuery
	case i < 0 && len(all) == maxQueries:
		return nil, errTooMany
	}
	kept := keptQuery{queryDefinition{Language: cmp.Or(r.Language, "CWLI"), ID: id, Name: r.Name, Query: r.Query,
		Modified: s.now().UnixMilli(), Groups: append([]string{}, r.Groups...), Parameters: r.Parameters},
		r.ClientToken}
	if i >= 0 {
		kept.ClientToken = all[i].ClientToken
	}
	text, err := json.Marshal(kept) //nolint:gosec // a token of a client is no secret
	if err != nil {
		return nil, err
	}
	return &putQueryDefinitionResponse{id}, s.keep(func(b *documents.Batch, t *documents.Table) {
		b.Put(t, queryKeys(scope)+id, text)
	})
}

// maxQueries is the maximum number of query definitions per account and region.
const maxQueries = 1000

// queries returns the query definitions of an account and region.
func (s *Service) queries(scope aws.Scope) (all []keptQuery, err error) {
	err = s.documents.Table("logs").Scan(queryKeys(scope), func(_ string, text []byte) error {
		var q keptQuery
		err := json.Unmarshal(text, &q)
		all = append(all, q)
		return err
	})
	return all, err
}

// keep applies a change to the documents and waits until it is on disk.
func (s *Service) keep(change func(*documents.Batch, *documents.Table)) error {
	return s.documents.Write(func(b *documents.Batch) error {
		change(b, s.documents.Table("logs"))
		return nil
	})
}

func (s *Service) describeQueryDefinitions(_ context.Context, scope aws.Scope,
	r *describeQueryDefinitionsRequest) (*describeQueryDefinitionsResponse, error) {
	all, err := s.queries(scope)
	if err != nil {
		return nil, err
	}
	found := []queryDefinition{}
	for _, q := range all {
		if strings.HasPrefix(q.Name, r.Prefix) && (r.Language == "" || r.Language == q.Language) {
			found = append(found, q.queryDefinition)
		}
	}
	key := func(q queryDefinition) string { return q.Name + "\x00" + q.ID }
	slices.SortFunc(found, func(a, b queryDefinition) int { return strings.Compare(key(a), key(b)) })
	found, next, err := page(paged{cmp.Or(r.Max, maxQueries), r.NextToken}, s.now(),
		[]string{"queries", scope.Account, scope.Region, r.Prefix, r.Language}, found, key)
	return &describeQueryDefinitionsResponse{found, next}, err
}

func (s *Service) deleteQueryDefinition(_ context.Context, scope aws.Scope,
	r *deleteQueryDefinitionRequest) (*deleteQueryDefinitionResponse, error) {
	s.changes.Lock()
	defer s.changes.Unlock()
	key := queryKeys(scope) + r.ID
	_, found, err := s.documents.Table("logs").Get(key)
	if err == nil && !found {
		err = errNoQuery
	}
	if err != nil {
		return nil, err
	}
	return &deleteQueryDefinitionResponse{true}, s.keep(func(b *documents.Batch,
		t *documents.Table) {
		b.Delete(t, key)
	})
}
