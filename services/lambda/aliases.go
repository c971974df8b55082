package lambda

import (
	"net/http"

	"stepback/aws/server/awsjson"
	"stepback/services/lambda/functions"
)

var (
	routing = awsjson.Member{
		Name: "routingConfig", Kind: awsjson.Structure, Members: []awsjson.Member{{Name: "additionalVersionWeights",
			Kind: awsjson.Structure}},
	}
	createAliasMembers = []awsjson.Member{aliasName, required(aliasVersion), description, routing}
	updateAliasMembers = []awsjson.Member{aliasVersion, description, routing, revisionID}
)

func (s *Service) createAlias(q *request) (answer, error) {
	in, err := decode[functions.AliasInput](q, maxBody, createAliasMembers)
	if err != nil {
		return answer{}, err
	}
	a, err := s.functions.CreateAlias(q.Context(), q.scope, q.name.Function, in)
	return answer{http.StatusCreated, a}, err
}

func (s *Service) updateAlias(q *request) (answer, error) {
	in, err := decode[functions.AliasInput](q, maxBody, updateAliasMembers)
	if err != nil {
		return answer{}, err
	}
	in.Name = q.PathValue("alias")
	a, err := s.functions.UpdateAlias(q.Context(), q.scope, q.name.Function, in)
	return answer{http.StatusOK, a}, err
}

func (s *Service) getAlias(q *request) (answer, error) {
	a, err := s.functions.Alias(q.scope, q.name.Function, q.PathValue("alias"))
	return answer{http.StatusOK, a}, err
}

func (s *Service) deleteAlias(q *request) (answer, error) {
	err := s.functions.DeleteAlias(q.Context(), q.scope, q.name.Function, q.PathValue("alias"))
	return answer{http.StatusNoContent, nil}, err
}

func (s *Service) listAliases(q *request) (answer, error) {
	list, err := s.functions.Aliases(q.scope, q.name.Function, q.URL.Query().Get("FunctionVersion"))
	if err != nil {
		return answer{}, err
	}
	page, next, err := pageOf(q, list, func(a functions.Alias) string { return a.Name })
	return answer{http.StatusOK, struct {
		Aliases    []functions.Alias
		NextMarker string `json:",omitempty"`
	}{page, next}}, err
}
