package lambda

import (
	"net/http"

	"stepback/aws/server/awsjson"
	"stepback/services/lambda/functions"
)

var (
	updateCodeMembers = append([]awsjson.Member{architectures, publish,
		{Name: "dryRun", Kind: awsjson.Boolean}, revisionID}, sourceMembers...)
	updateConfigurationMembers = append([]awsjson.Member{revisionID}, settingMembers(roleMember(false))...)
)

func (s *Service) updateFunctionCode(q *request) (answer, error) {
	in, err := decode[functions.UpdateCodeInput](q, maxCode, updateCodeMembers)
	if err != nil {
		return answer{}, err
	}
	c, err := s.functions.UpdateCode(q.Context(), q.scope, q.name.Function, in)
	return answer{http.StatusOK, c}, err
}

func (s *Service) updateFunctionConfiguration(q *request) (answer, error) {
	in, err := decode[functions.UpdateConfigurationInput](q, maxBody, updateConfigurationMembers)
	if err != nil {
		return answer{}, err
	}
	c, err := s.functions.UpdateConfiguration(q.Context(), q.scope, q.name.Function, in)
	return answer{http.StatusOK, c}, err
}
