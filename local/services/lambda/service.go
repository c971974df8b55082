package lambda

import (
	"errors"
	"io/fs"
	"log/slog"
	"net/http"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/lambda/durablefunctions"
	"stepback/local/services/lambda/eventsource"
	"stepback/local/services/lambda/functions"
)

// Service is an http.Handler that serves the Lambda API.
type Service struct {
	functions *functions.Service
	mappings  *eventsource.Service // nil if there are no sources
	durable   *durablefunctions.Service
	log       *slog.Logger
	mux       *http.ServeMux
	api       *server.Service
}

// Config configures the API. Functions and Log are required.
type Config struct {
	Functions *functions.Service
	// Mappings holds the event source mappings; if it is nil, requests about mappings are refused.
	Mappings *eventsource.Service
	// Durable runs the durable executions; if it is nil, requests about them are refused.
	Durable *durablefunctions.Service
	// Scope is the account and region of unsigned requests.
	Scope aws.Scope
	Log   *slog.Logger
}

// New returns a Service for the API.
func New(c Config) *Service {
	s := &Service{functions: c.Functions, mappings: c.Mappings, durable: c.Durable, log: c.Log, mux: http.NewServeMux()}
	s.mux.HandleFunc("GET "+codePath+"{account}/{region}/{function}/{package}", s.getCode)
	s.api = server.Must(server.Config{
		ReservedTag: &aws.Error{Code: "InvalidParameterValueException", Message: aws.ReservedTagMessage, Status: http.StatusBadRequest},
		Model:       "lambda", Operations: s.operations(), Partly: partly, Accepted: accepted, Words: words, Unreadable: unparsable,
		Failure: failure, Default: c.Scope, Log: c.Log,
	})
	s.mux.Handle("/", s.api)
	return s
}

// ServeHTTP implements http.Handler.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if id, path, ok := urlOf(r); ok {
		s.serveURL(w, r, id, path)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// failure converts an internal error to an error for the client.
func failure(err error) *aws.Error {
	if errors.Is(err, fs.ErrNotExist) {
		return &aws.Error{Code: "ResourceNotFoundException", Message: "There is no such code.",
			Status: http.StatusNotFound}
	}
	return &aws.Error{Code: "ServiceException", Message: "The service failed: " + err.Error(),
		Status: http.StatusInternalServerError}
}

// Coverage returns which operations are implemented.
func (s *Service) Coverage() server.Coverage { return s.api.Coverage() }
