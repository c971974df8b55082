package lambda

import (
	"net/http"

	"stepback/aws"
)

// CodePath is where GetFunction's Code.Location leads.
const CodePath = "/_stepback/lambda/code/"

// Versioned paths of the API.
const (
	root        = "/2015-03-31/functions"
	one         = root + "/{function}"
	tagsPath    = "/2017-03-31/tags/{resource}"
	reservePath = "/2017-10-31/functions/{function}/concurrency"
)

// route names the operations.
func (s *Service) route() {
	for _, o := range []struct {
		pattern string
		operation
	}{
		{"POST " + root, s.createFunction},
		{"GET " + root, s.listFunctions},
		{"POST " + root + "/{$}", s.createFunction}, // as older clients write it
		{"GET " + root + "/{$}", s.listFunctions},
		{"GET " + one, s.getFunction},
		{"DELETE " + one, s.deleteFunction},
		{"GET " + one + "/configuration", s.getFunctionConfiguration},
		{"PUT " + one + "/configuration", s.updateFunctionConfiguration},
		{"PUT " + one + "/code", s.updateFunctionCode},
		{"POST " + one + "/versions", s.publishVersion},
		{"GET " + one + "/versions", s.listVersions},
		{"POST " + one + "/aliases", s.createAlias},
		{"GET " + one + "/aliases", s.listAliases},
		{"GET " + one + "/aliases/{alias}", s.getAlias},
		{"PUT " + one + "/aliases/{alias}", s.updateAlias},
		{"DELETE " + one + "/aliases/{alias}", s.deleteAlias},
		{"PUT " + reservePath, s.putConcurrency},
		{"DELETE " + reservePath, s.deleteConcurrency},
		{"GET /2019-09-30/functions/{function}/concurrency", s.getConcurrency},
		{"GET /2020-06-30/functions/{function}/code-signing-config", s.getCodeSigningConfig},
		{"GET " + tagsPath, s.listTags},
		{"POST " + tagsPath, s.tagResource},
		{"DELETE " + tagsPath, s.untagResource},
		{"GET /2016-08-19/account-settings", s.getAccountSettings},
		{"/", unserved},
	} {
		s.handle(o.pattern, o.operation)
	}
	s.mux.HandleFunc("POST "+one+"/invocations", s.invoke)
	s.mux.HandleFunc("GET "+CodePath+"{account}/{region}/{function}/{package}", s.getCode)
}

// unserved answers requests for operations that are not served here.
func unserved(q *request) (answer, error) {
	return answer{}, &aws.Error{
		Code: "UnknownOperationException", Status: http.StatusNotFound,
		Message: q.Method + " " + q.URL.Path + " is no operation of Lambda that is served here.",
	}
}
