package lambda

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"strconv"

	"stepback/aws"
	"stepback/services/lambda/functions"
)

// Service is an http.Handler that serves the operations of Lambda.
type Service struct {
	functions *functions.Service
	scope     aws.Scope
	log       *slog.Logger
	mux       *http.ServeMux
}

// New returns the API of the functions. Requests that are not signed for an account and region are about those of
// scope.
func New(f *functions.Service, scope aws.Scope, log *slog.Logger) *Service {
	s := &Service{functions: f, scope: scope, log: log, mux: http.NewServeMux()}
	s.route()
	return s
}

// ServeHTTP implements http.Handler.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// answer is what an operation says.
type answer struct {
	status int
	body   any // encoded as JSON; nil means no body
}

// operation carries out one operation of the API.
type operation func(*request) (answer, error)

// handle serves an operation at a method and path.
func (s *Service) handle(pattern string, o operation) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		s.begin(w)
		a, err := s.run(o, w, r)
		if err != nil {
			s.refuse(w, err)
			return
		}
		s.write(w, a)
	})
}

// begin sets the headers of every answer.
func (s *Service) begin(w http.ResponseWriter) {
	h := w.Header()
	h.Set("X-Amzn-Requestid", aws.NewID())
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
}

func (s *Service) run(o operation, w http.ResponseWriter, r *http.Request) (answer, error) {
	q, err := s.request(w, r)
	if err != nil {
		return answer{}, err
	}
	return o(q)
}

func (s *Service) write(w http.ResponseWriter, a answer) {
	if a.body == nil {
		w.WriteHeader(a.status)
		return
	}
	body, err := encode(a.body)
	if err != nil {
		s.refuse(w, err)
		return
	}
	s.send(w, a.status, body)
}

// messageInCapitals are the errors whose model names the member Message and not message.
var messageInCapitals = map[string]bool{
	"ResourceNotFoundException": true, "ServiceException": true, "InvalidRuntimeException": true,
	"InvalidZipFileException": true,
}

// refuse answers with an error.
func (s *Service) refuse(w http.ResponseWriter, err error) {
	e := s.apiError(err)
	body := map[string]any{"Type": "User"}
	maps.Copy(body, e.Members)
	if e.ByServer() {
		body["Type"] = "Service"
	}
	if messageInCapitals[e.Code] {
		body["Message"] = e.Message
	} else {
		body["message"] = e.Message
	}
	w.Header().Set("X-Amzn-Errortype", e.Code)
	text, encodeErr := encode(body)
	if encodeErr != nil {
		text = []byte("{}")
	}
	s.send(w, e.HTTPStatus(), text)
}

func (s *Service) apiError(err error) *aws.Error {
	var api *aws.Error
	switch {
	case errors.As(err, &api):
		return api
	case errors.Is(err, fs.ErrNotExist):
		return &aws.Error{Code: "ResourceNotFoundException", Message: "There is no such code.",
			Status: http.StatusNotFound}
	}
	s.log.Error("a request to Lambda failed", "error", err)
	return &aws.Error{Code: "ServiceException", Message: "The service failed: " + err.Error(),
		Status: http.StatusInternalServerError}
}

func (s *Service) send(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil {
		s.log.Debug("a client went away", "error", err)
	}
}

// encode is the JSON text of an answer, without the escapes that HTML would need.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
