package lambda

import (
	"errors"
	"io/fs"
	"log/slog"
	"net/http"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/services/lambda/functions"
)

// Service is an http.Handler that serves the operations of Lambda.
type Service struct {
	functions *functions.Service
	log       *slog.Logger
	mux       *http.ServeMux
	api       *server.Service
}

// New returns the API of the functions. Requests that are not signed for an account and region are about those of
// scope.
func New(f *functions.Service, scope aws.Scope, log *slog.Logger) *Service {
	s := &Service{functions: f, log: log, mux: http.NewServeMux()}
	s.mux.HandleFunc("GET "+CodePath+"{account}/{region}/{function}/{package}", s.getCode)
	s.api = server.Must(server.Config{
		Model: "lambda", Operations: s.operations(), Partly: partly, Words: words, Unreadable: unparsable,
		Failure: failure, Default: scope, Log: log,
	})
	s.mux.Handle("/", s.api)
	return s
}

// ServeHTTP implements http.Handler.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// failure words what went wrong behind an operation.
func failure(err error) *aws.Error {
	if errors.Is(err, fs.ErrNotExist) {
		return &aws.Error{Code: "ResourceNotFoundException", Message: "There is no such code.",
			Status: http.StatusNotFound}
	}
	return &aws.Error{Code: "ServiceException", Message: "The service failed: " + err.Error(),
		Status: http.StatusInternalServerError}
}

// Coverage says which operations are served.
func (s *Service) Coverage() server.Coverage { return s.api.Coverage() }
