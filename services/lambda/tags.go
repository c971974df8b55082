package lambda

import (
	"net/http"

	"stepback/aws/server/awsjson"
)

type tagSet struct{ Tags map[string]string }

var tagMembers = []awsjson.Member{required(tags)}

func (s *Service) listTags(q *request) (answer, error) {
	if err := q.setName(q.PathValue("resource"), ""); err != nil {
		return answer{}, err
	}
	f, err := s.functions.Get(q.scope, q.name.Function, "")
	if err != nil {
		return answer{}, err
	}
	if f.Tags == nil {
		f.Tags = map[string]string{}
	}
	return answer{http.StatusOK, tagSet{f.Tags}}, nil
}

func (s *Service) tagResource(q *request) (answer, error) {
	if err := q.setName(q.PathValue("resource"), ""); err != nil {
		return answer{}, err
	}
	in, err := decode[tagSet](q, maxBody, tagMembers)
	if err != nil {
		return answer{}, err
	}
	err = s.functions.Tag(q.Context(), q.scope, q.name.Function, in.Tags)
	return answer{http.StatusNoContent, nil}, err
}

func (s *Service) untagResource(q *request) (answer, error) {
	if err := q.setName(q.PathValue("resource"), ""); err != nil {
		return answer{}, err
	}
	err := s.functions.Untag(q.Context(), q.scope, q.name.Function, q.URL.Query()["tagKeys"])
	return answer{http.StatusNoContent, nil}, err
}
