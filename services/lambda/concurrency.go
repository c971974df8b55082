package lambda

import (
	"net/http"

	"stepback/aws/server/awsjson"
)

var concurrencyMembers = []awsjson.Member{{Name: "reservedConcurrentExecutions", Kind: awsjson.Integer, Required: true}}

func (s *Service) putConcurrency(q *request) (answer, error) {
	in, err := decode[concurrency](q, maxBody, concurrencyMembers)
	if err != nil {
		return answer{}, err
	}
	err = s.functions.Reserve(q.Context(), q.scope, q.name.Function, in.ReservedConcurrentExecutions)
	return answer{http.StatusOK, in}, err
}

func (s *Service) getConcurrency(q *request) (answer, error) {
	f, err := s.functions.Get(q.scope, q.name.Function, "")
	if err != nil {
		return answer{}, err
	}
	return answer{http.StatusOK, concurrency{f.Reserved}}, nil
}

func (s *Service) deleteConcurrency(q *request) (answer, error) {
	err := s.functions.Reserve(q.Context(), q.scope, q.name.Function, nil)
	return answer{http.StatusNoContent, nil}, err
}
