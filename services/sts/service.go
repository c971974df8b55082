package sts

import (
	"encoding/xml"
	"log/slog"
	"net/http"
	"strconv"

	"stepback/aws"
	"stepback/aws/server/awsjson"
)

// Service is an http.Handler for STS's protocol: forms in, XML out.
type Service struct {
	// Default is the account and the region of requests that name none.
	Default aws.Scope
	// Log is told when an answer cannot be written; nil means nobody is.
	Log *slog.Logger
}

// maxForm is how large a request may be, in bytes; it has room for every parameter that STS knows.
const maxForm = 64 << 10

// ServeHTTP implements http.Handler.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := aws.NewID()
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	action := r.FormValue("Action")
	if action != "GetCallerIdentity" {
		s.write(w, http.StatusBadRequest, id, refusal{
			Error: failure{"Sender", "InvalidAction", "Could not find operation " + action + " for version " +
				version},
			RequestID: id,
		})
		return
	}
	s.write(w, http.StatusOK, id, callerIdentity{Result: identityOf(awsjson.ScopeOf(r, s.Default)), RequestID: id})
}

// identityOf is the identity of a caller with the credentials of an account: its root user.
func identityOf(scope aws.Scope) identity {
	return identity{
		ARN: scope.GlobalARN("iam", "root"), UserID: scope.Account,
		Account: scope.Account,
	}
}

func (s *Service) write(w http.ResponseWriter, status int, id string, answer any) {
	body, err := xml.Marshal(answer)
	if err != nil {
		status, body = http.StatusInternalServerError, nil
	}
	h := w.Header()
	h.Set("Content-Type", "text/xml")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("X-Amzn-Requestid", id)
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil && s.Log != nil {
		s.Log.Debug("a client went away", "error", err)
	}
}
