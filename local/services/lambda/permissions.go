package lambda

import (
	"encoding/json"

	"stepback/aws/server"
	"stepback/local/services/lambda/functions"
)

func (s *Service) addPermission(q *request) (*server.Answer, error) {
	in, err := decode[functions.PermissionInput](q)
	if err != nil {
		return nil, err
	}
	added, err := s.functions.AddPermission(q.ctx, q.scope, q.name.Function, q.name.Qualifier, in)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(added)
	return answer(struct{ Statement string }{string(text)}, err)
}

func (s *Service) removePermission(q *request) (*server.Answer, error) {
	err := s.functions.RemovePermission(q.ctx, q.scope, q.name.Function, q.name.Qualifier, q.text("StatementId"),
		q.text("RevisionId"))
	return done(err)
}

func (s *Service) getPolicy(q *request) (*server.Answer, error) {
	document, revision, err := s.functions.Policy(q.scope, q.name.Function, q.name.Qualifier)
	return answer(struct {
		Policy     string
		RevisionID string `json:"RevisionId"`
	}{document, revision}, err)
}
