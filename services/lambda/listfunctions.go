package lambda

import (
	"fmt"
	"net/http"

	"stepback/aws/server/awsjson"
	"stepback/services/lambda/functions"
)

var listFunctionsMembers = []awsjson.Member{{Name: "functionVersion", Enum: []string{"ALL"}}}

func (s *Service) listFunctions(q *request) (answer, error) {
	versions := q.URL.Query().Get("FunctionVersion")
	if versions != "" {
		if err := check(listFunctionsMembers, map[string]any{"FunctionVersion": versions}); err != nil {
			return answer{}, err
		}
	}
	page, next, err := pageOf(q, s.functions.List(q.scope, versions != ""), versionKey)
	return answer{http.StatusOK, struct {
		Functions  []functions.Configuration
		NextMarker string `json:",omitempty"`
	}{page, next}}, err
}

// versionKey sorts versions by function and number.
func versionKey(c functions.Configuration) string {
	return fmt.Sprintf("%s\x00%20s", c.FunctionName, unlatest(c.Version))
}

// unlatest lets $LATEST be before version 1.
func unlatest(version string) string {
	if version == "$LATEST" {
		return "0"
	}
	return version
}
