package lambda

import "net/http"

func (s *Service) deleteFunction(q *request) (answer, error) {
	err := s.functions.Delete(q.Context(), q.scope, q.name.Function, q.name.Qualifier)
	return answer{http.StatusNoContent, nil}, err
}
