package lambda

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"

	"stepback/aws/server"
	"stepback/local/services/lambda/functions"
)

type codeLocation struct{ RepositoryType, Location string }

type concurrency struct {
	ReservedConcurrentExecutions *int `json:",omitempty"`
}

func (s *Service) getFunction(q *request) (*server.Answer, error) {
	f, err := s.functions.Get(q.scope, q.name.Function, q.name.Qualifier)
	if err != nil {
		return nil, err
	}
	body := struct {
		Configuration *functions.Configuration
		Code          codeLocation
		Tags          map[string]string `json:",omitempty"`
		Concurrency   *concurrency      `json:",omitempty"`
	}{Configuration: &f.Configuration, Tags: f.Tags, Code: codeLocation{"S3", q.location(&f.Configuration)}}
	if f.Reserved != nil {
		body.Concurrency = &concurrency{f.Reserved}
	}
	return answer(body, nil)
}

func (s *Service) getFunctionConfiguration(q *request) (*server.Answer, error) {
	f, err := s.functions.Get(q.scope, q.name.Function, q.name.Qualifier)
	if err != nil {
		return nil, err
	}
	return answer(f.Configuration, nil)
}

// location returns the URL of a version's code.
func (q *request) location(c *functions.Configuration) string {
	sha, err := base64.StdEncoding.DecodeString(c.CodeSha256)
	if err != nil {
		return ""
	}
	u := url.URL{Scheme: "http", Host: q.HTTP.Host, Path: codePath + q.scope.Account + "/" + q.scope.Region + "/" +
		c.FunctionName + "/" + hex.EncodeToString(sha) + ".zip"}
	return u.String()
}
