package lambda

import (
	"fmt"

	"stepback/aws/server"
	"stepback/local/services/lambda/functions"
)

func (s *Service) listFunctions(q *request) (*server.Answer, error) {
	page, next, err := pageOf(q, s.functions.List(q.scope, q.text("FunctionVersion") != ""), versionKey)
	return answer(struct {
		Functions  []functions.Configuration
		NextMarker string `json:",omitempty"`
	}{page, next}, err)
}

// versionKey returns a key that sorts versions by function and number.
func versionKey(c functions.Configuration) string {
	return fmt.Sprintf("%s\x00%20s", c.FunctionName, unlatest(c.Version))
}

// unlatest makes $LATEST sort before version 1.
func unlatest(version string) string {
	if version == "$LATEST" {
		return "0"
	}
	return version
}
