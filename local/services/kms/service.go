package kms

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/engine/clock"
	"stepback/local/services/documents"
	"stepback/local/services/kms/material"
)

// Options are the settings of a Service. Dir, Documents and Clock are required.
type Options struct {
	// Dir is the directory of the key material. It is created together with the first key.
	Dir string
	// Documents is the store that holds all other data, in the table kms.
	Documents *documents.Store
	// Clock provides creation and deletion times.
	Clock *clock.Clock
	// Scope is the account and region of requests that name none; empty means 000000000000 and us-east-1.
	Scope aws.Scope
	// Log receives refused requests; nil discards them.
	Log *slog.Logger
}

// Service is the embedded KMS. It is safe for concurrent use.
type Service struct {
	opts  Options
	table *documents.Table
	mu    sync.Mutex // serializes changes
}

// tableName is the name of the table that the service uses.
const tableName = "kms"

// New returns a Service over the data in o.Documents.
func New(o Options) *Service {
	o.Scope.Region, o.Scope.Account = cmp.Or(o.Scope.Region, "us-east-1"), cmp.Or(o.Scope.Account, "000000000000")
	return &Service{opts: o, table: o.Documents.Table(tableName)}
}

// Handler serves the API.
func (s *Service) Handler() *server.Service {
	return server.Must(server.Config{
		Model: "kms", ReservedTag: refuse("TagException", "Tags beginning with aws: are reserved"), Operations: s.operations(), Partly: partly, Accepted: accepted, Failure: failure, Default: s.opts.Scope, Log: s.opts.Log,
	})
}

func (s *Service) operations() map[string]server.Operation {
	return map[string]server.Operation{
		"CreateKey":                           server.Handle(s.createKey),
		"DescribeKey":                         withTokens(s, s.describeKey),
		"ListKeys":                            server.Handle(s.listKeys),
		"EnableKey":                           server.Handle(s.enableKey),
		"DisableKey":                          server.Handle(s.disableKey),
		"UpdateKeyDescription":                server.Handle(s.updateKeyDescription),
		"ScheduleKeyDeletion":                 server.Handle(s.scheduleKeyDeletion),
		"CancelKeyDeletion":                   server.Handle(s.cancelKeyDeletion),
		"CreateAlias":                         server.Handle(s.createAlias),
		"UpdateAlias":                         server.Handle(s.updateAlias),
		"DeleteAlias":                         server.Handle(s.deleteAlias),
		"ListAliases":                         server.Handle(s.listAliases),
		"GetKeyPolicy":                        server.Handle(s.getKeyPolicy),
		"PutKeyPolicy":                        server.Handle(s.putKeyPolicy),
		"ListKeyPolicies":                     server.Handle(s.listKeyPolicies),
		"TagResource":                         server.Handle(s.tagResource),
		"UntagResource":                       server.Handle(s.untagResource),
		"ListResourceTags":                    server.Handle(s.listResourceTags),
		"EnableKeyRotation":                   server.Handle(s.enableKeyRotation),
		"DisableKeyRotation":                  server.Handle(s.disableKeyRotation),
		"GetKeyRotationStatus":                server.Handle(s.getKeyRotationStatus),
		"RotateKeyOnDemand":                   server.Handle(s.rotateKeyOnDemand),
		"ListKeyRotations":                    server.Handle(s.listKeyRotations),
		"CreateGrant":                         withTokens(s, s.createGrant),
		"ListGrants":                          server.Handle(s.listGrants),
		"ListRetirableGrants":                 server.Handle(s.listRetirableGrants),
		"RetireGrant":                         server.Handle(s.retireGrant),
		"RevokeGrant":                         server.Handle(s.revokeGrant),
		"Encrypt":                             withTokens(s, s.encrypt),
		"Decrypt":                             withTokens(s, s.decrypt),
		"ReEncrypt":                           withTokens(s, s.reEncrypt),
		"GenerateDataKey":                     withTokens(s, s.generateDataKey),
		"GenerateDataKeyWithoutPlaintext":     withTokens(s, s.generateDataKeyWithoutPlaintext),
		"GenerateDataKeyPair":                 withTokens(s, s.generateDataKeyPair),
		"GenerateDataKeyPairWithoutPlaintext": withTokens(s, s.generateDataKeyPairWithoutPlaintext),
		"GenerateRandom":                      server.Handle(s.generateRandom),
		"Sign":                                withTokens(s, s.sign),
		"Verify":                              withTokens(s, s.verify),
		"GetPublicKey":                        withTokens(s, s.getPublicKey),
		"GenerateMac":                         withTokens(s, s.generateMAC),
		"VerifyMac":                           withTokens(s, s.verifyMAC),
		"DeriveSharedSecret":                  withTokens(s, s.deriveSharedSecret),
	}
}

// none is the response of operations that return nothing.
type none struct{}

// one is a request that names a key.
type one struct {
	Key string `json:"KeyId"`
}

func (s *Service) now() time.Time { return s.opts.Clock.Now().UTC() }

func refuse(code, format string, args ...any) *aws.Error {
	return &aws.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

func unsupported(what string) *aws.Error {
	return refuse("UnsupportedOperationException", "%s is not supported by this KMS.", what)
}

// failure converts errors of lower layers to errors for clients.
func failure(err error) *aws.Error {
	switch {
	case errors.Is(err, material.ErrUnsupported):
		return refuse("UnsupportedOperationException", "%s", err.Error())
	case errors.Is(err, material.ErrCiphertext):
		return &aws.Error{Code: "InvalidCiphertextException"}
	case errors.Is(err, material.ErrDigest):
		return server.Invalid("Digest is invalid length for algorithm")
	case errors.Is(err, documents.ErrBroken), errors.Is(err, documents.ErrClosed):
		return &aws.Error{Code: "KMSInternalException", Status: http.StatusInternalServerError,
			Message: "The keys in the data directory cannot be read or written: " + err.Error()}
	}
	return nil
}

// change runs f and waits until its writes are on disk.
func (s *Service) change(f func(*documents.Batch) error) error {
	return s.opts.Documents.Change(&s.mu, f)
}

// put adds a value to a batch under a store key.
func (s *Service) put(b *documents.Batch, name string, value any) error {
	text, err := json.Marshal(value)
	if err == nil {
		b.Put(s.table, name, text)
	}
	return err
}

// get reads the value under a store key.
func (s *Service) get(name string, value any) (found bool, err error) {
	text, found, err := s.table.Get(name)
	if err != nil || !found {
		return false, err
	}
	return true, json.Unmarshal(text, value)
}

// accepted lists the members of requests that have no effect, and why.
var accepted = map[string]map[string]string{
	"ListKeyPolicies": {
		"Limit":  "a key has one policy",
		"Marker": "a key has one policy",
	},
}
