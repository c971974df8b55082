package lambda

import (
	"net/http"
	"strings"

	"stepback/aws"
)

// getCode sends a deployment package.
func (s *Service) getCode(w http.ResponseWriter, r *http.Request) {
	s.begin(w)
	scope := aws.Scope{Account: r.PathValue("account"), Region: r.PathValue("region")}
	f, err := s.functions.OpenCode(scope, r.PathValue("function"), strings.TrimSuffix(r.PathValue("package"), ".zip"))
	if err != nil {
		s.refuse(w, err)
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		s.refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/zip")
	http.ServeContent(w, r, "", info.ModTime(), f)
}
