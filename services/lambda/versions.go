package lambda

import (
	"net/http"

	"stepback/aws/server/awsjson"
	"stepback/services/lambda/functions"
)

var publishMembers = []awsjson.Member{{Name: "codeSha256"}, description, revisionID}

func (s *Service) publishVersion(q *request) (answer, error) {
	in, err := decode[functions.PublishInput](q, maxBody, publishMembers)
	if err != nil {
		return answer{}, err
	}
	c, err := s.functions.Publish(q.Context(), q.scope, q.name.Function, in)
	return answer{http.StatusCreated, c}, err
}

func (s *Service) listVersions(q *request) (answer, error) {
	list, err := s.functions.Versions(q.scope, q.name.Function)
	if err != nil {
		return answer{}, err
	}
	page, next, err := pageOf(q, list, versionKey)
	return answer{http.StatusOK, struct {
		Versions   []functions.Configuration
		NextMarker string `json:",omitempty"`
	}{page, next}}, err
}
