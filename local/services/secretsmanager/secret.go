package secretsmanager

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/internal/lazyregexp"
	"stepback/local/services/documents"
)

// secret is a secret as it is stored.
type secret struct {
	scope aws.Scope

	Name, Suffix      string // the suffix is the end of its ARN
	Description       string `json:",omitempty"`
	Key               string `json:",omitempty"` // as given in the request
	Type              string `json:",omitempty"`
	Created, Changed  time.Time
	Accessed, Rotated time.Time         `json:",omitzero"`
	Deleted           time.Time         `json:",omitzero"` // when it will be deleted
	Tags              map[string]string // nil until tags were added
	Policy            string            `json:",omitempty"`
	Owner             string            `json:",omitempty"` // OwningService: the service that manages the secret
	Rotation          *rotation         `json:",omitempty"`
	Rotating          string            `json:",omitempty"` // version of the rotation that has not ended
	Versions          []version
}

// version is a version of a secret. A version that a rotation has created has no value at first.
type version struct {
	ID      string
	Created time.Time
	Stages  []string `json:",omitempty"`
	Text    string   `json:",omitempty"` // encrypted
	Binary  bool     `json:",omitempty"`
	Empty   bool     `json:",omitempty"`

	Accessed time.Time `json:",omitzero"` // date only
}

// The staging labels that Secrets Manager moves itself.
const (
	current  = "AWSCURRENT"
	previous = "AWSPREVIOUS"
	pending  = "AWSPENDING"
)

// usualKey is the default key of secrets.
const usualKey = "alias/aws/secretsmanager"

func (x *secret) arn() string { return x.scope.ARN("secretsmanager", "secret:"+x.Name+"-"+x.Suffix) }

func (x *secret) named() secretIdentity { return secretIdentity{x.arn(), x.Name} }

func place(scope aws.Scope, name string) string {
	return scope.Account + "/" + scope.Region + "/" + name
}

// version returns the version with an ID, or nil if there is none.
func (x *secret) version(id string) *version {
	i := slices.IndexFunc(x.Versions, func(v version) bool { return v.ID == id })
	if i < 0 {
		return nil
	}
	return &x.Versions[i]
}

// staged returns the version that has a staging label, or nil if there is none.
func (x *secret) staged(stage string) *version {
	i := slices.IndexFunc(x.Versions, func(v version) bool { return slices.Contains(v.Stages, stage) })
	if i < 0 {
		return nil
	}
	return &x.Versions[i]
}

// move moves a staging label to a version. When AWSCURRENT moves, the version that had it becomes AWSPREVIOUS.
func (x *secret) move(stage, to string) {
	from := x.staged(stage)
	if from != nil && from.ID == to {
		return
	}
	if from != nil {
		from.Stages = slices.DeleteFunc(from.Stages, func(s string) bool { return s == stage })
		if stage == current {
			x.move(previous, from.ID)
		}
	}
	if v := x.version(to); v != nil {
		v.Stages = append(v.Stages, stage)
		slices.Sort(v.Stages)
	}
}

// mostDeprecated is the maximum number of unlabelled versions that are kept.
const mostDeprecated = 100

// trim deletes the oldest unlabelled versions beyond the limit.
func (x *secret) trim() {
	n := 0
	for _, v := range x.Versions {
		if len(v.Stages) == 0 {
			n++
		}
	}
	x.Versions = slices.DeleteFunc(x.Versions, func(v version) bool {
		if len(v.Stages) > 0 || n <= mostDeprecated {
			return false
		}
		n--
		return true
	})
}

// suffixBytes is the length of the random end of an ARN, including the hyphen before it.
const suffixBytes = 7

// find returns the secret that a request names by name, ARN, or ARN without the random end.
func (s *Service) find(scope aws.Scope, asked string) (*secret, error) {
	names := []string{asked}
	suffix := ""
	if arn, ok := aws.ParseARN(asked); ok {
		name, isSecret := strings.CutPrefix(arn.Resource, "secret:")
		if !isSecret || arn.Service != "secretsmanager" {
			return nil, errNoSecret
		}
		scope, names = arn.Scope(), []string{name}
		if i := len(name) - suffixBytes; i > 0 && name[i] == '-' {
			names = []string{name[:i], name}
			suffix = name[i+1:]
		}
	}
	for i, name := range names {
		text, found, err := s.table.Get(place(scope, name))
		if err != nil {
			return nil, err
		}
		if !found {
			continue
		}
		x := &secret{scope: scope}
		if err := json.Unmarshal(text, x); err != nil {
			return nil, err
		}
		if i == 0 && suffix != "" && x.Suffix != suffix || s.gone(x) {
			continue
		}
		return x, nil
	}
	return nil, errNoSecret
}

// gone reports whether the recovery window of a secret has passed.
func (s *Service) gone(x *secret) bool { return !x.Deleted.IsZero() && !s.now().Before(x.Deleted) }

const deletedMessage = "You can't perform this operation on the secret because it was marked for deletion."

// checkOwner returns an error for a secret that another service manages.
func (x *secret) checkOwner() error {
	if x.Owner == "" {
		return nil
	}
	return invalidRequest("You can't perform this operation on the secret because it is managed by the service " + x.Owner +
		".")
}

// alter applies change to a secret and stores it.
func (s *Service) alter(scope aws.Scope, asked string, change func(*secret) error) (secretIdentity, error) {
	var out secretIdentity
	err := s.change(func(b *documents.Batch) error {
		x, err := s.find(scope, asked)
		if err != nil {
			return err
		}
		if !x.Deleted.IsZero() {
			return invalidRequest(deletedMessage)
		}
		if err := x.checkOwner(); err != nil {
			return err
		}
		if err := change(x); err != nil {
			return err
		}
		out = x.named()
		return s.keep(b, x)
	})
	return out, err
}

// value is the secret value in a request: text or bytes.
type value struct {
	String *string `json:"SecretString"`
	Binary []byte  `json:"SecretBinary"`
}

func (v value) given() bool { return v.String != nil || v.Binary != nil }

func (v value) check() error {
	if v.String != nil && v.Binary != nil {
		return invalid("You can't specify both a binary secret value and a string secret value in the same secret.")
	}
	return nil
}

func (v value) text() string {
	if v.String != nil {
		return *v.String
	}
	return string(v.Binary)
}

// add adds a version. again is true if it already exists with this value.
func (s *Service) add(ctx context.Context, x *secret, id string, v value) (again bool, err error) {
	if there := x.version(id); there != nil && !there.Empty {
		text, err := s.opts.Secrets.Decrypt(ctx, x.scope, x.arn(), there.Text)
		if err != nil {
			return false, keyError(err)
		}
		if text == v.text() && there.Binary == (v.Binary != nil) {
			return true, nil
		}
		return false, &aws.Error{Code: "ResourceExistsException", Message: "You can't use ClientRequestToken " + id +
			" because that value is already in use for a version of secret " + x.arn() + "."}
	}
	key := x.Key
	if key == "" {
		key = usualKey
	}
	text, err := s.opts.Secrets.Encrypt(ctx, x.scope, key, x.arn(), v.text())
	if err != nil {
		return false, keyError(err)
	}
	made := version{ID: id, Created: s.now(), Text: text, Binary: v.Binary != nil}
	if there := x.version(id); there != nil { // started by a rotation
		made.Stages = there.Stages
		*there = made
		return false, nil
	}
	x.Versions = append(x.Versions, made)
	return false, nil
}

// keyError converts a KMS error about a secret's key to the service's error.
func keyError(err error) error {
	var e *aws.Error
	if !errors.As(err, &e) {
		return err
	}
	if e.Code == "NotFoundException" || e.Code == "InvalidArnException" {
		return invalidRequest(e.Message)
	}
	return &aws.Error{Code: "EncryptionFailure", Message: e.Message}
}

var secretName = lazyregexp.New(`^[a-zA-Z0-9/_+=.@!-]+$`)

const shortestToken, longestToken = 32, 64

// token returns the version ID given in a request, or a new one if it is empty.
func token(given string) (string, error) {
	switch {
	case given == "":
		return aws.NewID(), nil
	case len(given) < shortestToken || len(given) > longestToken:
		return "", invalid("ClientRequestToken must be 32-64 characters long.")
	}
	return given, nil
}

func optional(t time.Time) *server.Time {
	if t.IsZero() {
		return nil
	}
	made := server.Time(t)
	return &made
}

// page returns one page of a list and the token of the next page.
func page[T any](token string, size int, list []T, name func(T) string) ([]T, string, error) {
	if token != "" {
		i := slices.IndexFunc(list, func(e T) bool { return name(e) == token })
		if i < 0 {
			return nil, "", &aws.Error{Code: "InvalidNextTokenException", Message: "The provided next token is invalid."}
		}
		list = list[i:]
	}
	const usual = 100
	if size == 0 {
		size = usual
	}
	if len(list) <= size {
		return list, "", nil
	}
	return list[:size], name(list[size]), nil
}
