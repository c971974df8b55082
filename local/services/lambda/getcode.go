package lambda

import (
	"errors"
	"net/http"
	"strings"

	"stepback/aws"
)

// getCode sends a deployment package.
func (s *Service) getCode(w http.ResponseWriter, r *http.Request) {
	scope := aws.Scope{Account: r.PathValue("account"), Region: r.PathValue("region")}
	f, err := s.functions.OpenCode(scope, r.PathValue("function"), strings.TrimSuffix(r.PathValue("package"), ".zip"))
	if err != nil {
		s.noCode(w, err)
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		s.noCode(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/zip")
	http.ServeContent(w, r, "", info.ModTime(), f)
}

// noCode writes the error of a package that cannot be sent.
func (s *Service) noCode(w http.ResponseWriter, err error) {
	var e *aws.Error
	if !errors.As(err, &e) {
		e = failure(err)
	}
	if e.ByServer() {
		s.log.Error("a deployment package cannot be sent", "error", err)
	}
	http.Error(w, e.Message, e.HTTPStatus())
}
