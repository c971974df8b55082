package lambda

import (
	"net/http"

	"stepback/aws/server/awsjson"
	"stepback/services/lambda/functions"
)

var createMembers = append([]awsjson.Member{
	required(functionName), {Name: "code", Kind: awsjson.Structure, Required: true, Members: sourceMembers},
	architectures, publish, tags, {Name: "packageType", Enum: []string{"Zip", "Image"}},
}, settingMembers(roleMember(true))...)

func required(m awsjson.Member) awsjson.Member {
	m.Required = true
	return m
}

func (s *Service) createFunction(q *request) (answer, error) {
	in, err := decode[functions.CreateInput](q, maxCode, createMembers)
	if err != nil {
		return answer{}, err
	}
	if err := q.setName(in.FunctionName, ""); err != nil {
		return answer{}, err
	}
	c, err := s.functions.Create(q.Context(), q.scope, q.name.Function, in)
	return answer{http.StatusCreated, c}, err
}
