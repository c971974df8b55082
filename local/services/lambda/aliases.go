package lambda

import (
	"stepback/aws/server"
	"stepback/local/services/lambda/functions"
)

func (s *Service) createAlias(q *request) (*server.Answer, error) {
	in, err := decode[functions.AliasInput](q)
	if err != nil {
		return nil, err
	}
	a, err := s.functions.CreateAlias(q.ctx, q.scope, q.name.Function, in)
	return answer(a, err)
}

func (s *Service) updateAlias(q *request) (*server.Answer, error) {
	in, err := decode[functions.AliasInput](q)
	if err != nil {
		return nil, err
	}
	in.Name = q.text("Name")
	a, err := s.functions.UpdateAlias(q.ctx, q.scope, q.name.Function, in)
	return answer(a, err)
}

func (s *Service) getAlias(q *request) (*server.Answer, error) {
	a, err := s.functions.Alias(q.scope, q.name.Function, q.text("Name"))
	return answer(a, err)
}

func (s *Service) deleteAlias(q *request) (*server.Answer, error) {
	err := s.functions.DeleteAlias(q.ctx, q.scope, q.name.Function, q.text("Name"))
	return done(err)
}

func (s *Service) listAliases(q *request) (*server.Answer, error) {
	list, err := s.functions.Aliases(q.scope, q.name.Function, q.text("FunctionVersion"))
	if err != nil {
		return nil, err
	}
	page, next, err := pageOf(q, list, func(a functions.Alias) string { return a.Name })
	return answer(struct {
		Aliases    []functions.Alias
		NextMarker string `json:",omitempty"`
	}{page, next}, err)
}
