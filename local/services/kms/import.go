package kms

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/internal/atomicfile"
	"stepback/local/services/kms/material"
)

// The origins of key material.
const (
	ofKMS    = "AWS_KMS"
	external = "EXTERNAL"
)

// The expiration models of imported material.
const (
	expires      = "KEY_MATERIAL_EXPIRES"
	neverExpires = "KEY_MATERIAL_DOES_NOT_EXPIRE"
)

// imported describes the material of a key with the origin EXTERNAL. It is empty before the first import.
type imported struct {
	Model       string    `json:",omitempty"`
	ValidTo     time.Time `json:",omitzero"` // zero if the material does not expire
	Description string    `json:",omitempty"`
	// Former is the material that was deleted or has expired. No other one may be imported.
	Former *backing `json:",omitempty"`
}

// forget takes the material from a key. Only the same one can be imported afterwards.
func (k *key) forget() {
	former := k.Materials[0]
	k.Materials = nil
	k.Imported.Former, k.Imported.Model, k.Imported.ValidTo = &former, "", time.Time{}
}

// expire forgets the material of a key if it has expired. It reports whether that is the case.
func (k *key) expire(now time.Time) bool {
	i := k.Imported
	if i == nil || len(k.Materials) == 0 || i.ValidTo.IsZero() || now.Before(i.ValidTo) {
		return false
	}
	k.forget()
	return true
}

// origin returns the origin of a key's material.
func (k *key) origin() string {
	if k.Imported != nil {
		return external
	}
	return ofKMS
}

// checkImportable returns an error if no material can be imported into the key.
func (k *key) checkImportable() error {
	if k.Imported == nil {
		return k.wrongOrigin()
	}
	return k.checkNotPending()
}

// wrongOrigin returns the error for an operation that keys of this origin do not have.
func (k *key) wrongOrigin() error {
	return refuse("UnsupportedOperationException", "%s origin is %s which is not valid for this operation.", k.arn(), k.origin())
}

type importParameters struct {
	one
	Algorithm string `json:"WrappingAlgorithm"`
	Spec      string `json:"WrappingKeySpec"`
}

type importToken struct {
	Key     string       `json:"KeyId"`
	Token   []byte       `json:"ImportToken"`
	Public  []byte       `json:"PublicKey"`
	ValidTo *server.Time `json:"ParametersValidTo"`
}

// ticket is the content of an import token, which only this KMS can read.
type ticket struct {
	Key, Algorithm string
	Private        []byte // the wrapping key
	Until          time.Time
}

// tokenPurpose is authenticated with the content of import tokens.
const tokenPurpose = "import token"

func (s *Service) getParametersForImport(_ context.Context, scope aws.Scope, in *importParameters) (*importToken, error) {
	k, err := s.find(scope, in.Key)
	if err == nil {
		err = k.checkImportable()
	}
	if err != nil {
		return nil, err
	}
	spec, err := material.SpecOf(in.Spec)
	if err != nil {
		return nil, unsupported("The wrapping key spec " + in.Spec)
	}
	if in.Algorithm != "RSAES_OAEP_SHA_256" && in.Algorithm != "RSAES_OAEP_SHA_1" {
		return nil, unsupported("The wrapping algorithm " + in.Algorithm)
	}
	const valid = 24 * time.Hour
	t := ticket{Key: k.arn(), Algorithm: in.Algorithm, Until: s.now().Add(valid)}
	if t.Private, err = spec.Generate(); err != nil {
		return nil, err
	}
	until := server.Time(t.Until)
	out := &importToken{Key: k.arn(), ValidTo: &until}
	if out.Public, err = material.Public(t.Private); err != nil {
		return nil, err
	}
	text, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	secret, err := s.tokenSecret()
	if err != nil {
		return nil, err
	}
	out.Token, err = material.Seal(secret, []byte(tokenPurpose), text, nil)
	return out, err
}

// tokenSecret returns the secret under which import tokens are encrypted. It is created on first use.
func (s *Service) tokenSecret() ([]byte, error) {
	const own, bytes = 0o700, 32
	s.mu.Lock()
	defer s.mu.Unlock()
	path := s.path("import-tokens")
	secret, err := os.ReadFile(path)
	if err == nil && len(secret) == bytes || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return secret, err
	}
	if err := os.MkdirAll(s.opts.Dir, own); err != nil {
		return nil, err
	}
	secret = material.Random(bytes)
	return secret, atomicfile.Write(path, secret, 0o600)
}

type importMaterial struct {
	one
	Token       []byte   `json:"ImportToken"`
	Encrypted   []byte   `json:"EncryptedKeyMaterial"`
	ValidTo     *float64 // seconds since 1970
	Model       string   `json:"ExpirationModel"`
	Type        string   `json:"ImportType"`
	Description string   `json:"KeyMaterialDescription"`
	Material    string   `json:"KeyMaterialId"`
}

type importedMaterial struct {
	Key      string `json:"KeyId"`
	Material string `json:"KeyMaterialId,omitempty"`
}

// until returns the end of the material's validity; zero if it has none.
func (in *importMaterial) until(now time.Time) (time.Time, error) {
	if in.Model == neverExpires {
		if in.ValidTo != nil {
			return time.Time{}, server.Invalid("The ValidTo parameter cannot be set if the ExpirationModel is KEY_MATERIAL_DOES_NOT_EXPIRE")
		}
		return time.Time{}, nil
	}
	if in.ValidTo == nil {
		return time.Time{}, server.Invalid("A validTo date must be set if the ExpirationModel is KEY_MATERIAL_EXPIRES")
	}
	const longest = 365 * 24 * time.Hour
	until := time.UnixMilli(int64(*in.ValidTo * 1000)).UTC()
	if !until.After(now) || until.After(now.Add(longest)) {
		return time.Time{}, server.Invalid("The ValidTo date must be in the future and within 365 days.")
	}
	return until, nil
}

// incorrectMaterial is the error for material that is of another kind, or is not the one that the key had.
func incorrectMaterial(reason string) error {
	return refuse("IncorrectKeyMaterialException", "%s", reason)
}

func (s *Service) importKeyMaterial(_ context.Context, scope aws.Scope, in *importMaterial) (*importedMaterial, error) {
	until, err := in.until(s.now())
	if err != nil {
		return nil, err
	}
	out := &importedMaterial{}
	var replaced []backing
	err = s.alter(scope, "ImportKeyMaterial", in.Key, func(k *key) error {
		if err := k.checkImportable(); err != nil {
			return err
		}
		secret, err := s.unwrap(k, in)
		if err != nil {
			return err
		}
		former := k.Imported.Former
		if len(k.Materials) > 0 {
			former = &k.Materials[0]
		}
		if err := in.checkSame(former, secret); err != nil {
			return err
		}
		now := newBacking(s.now())
		now.File = now.ID
		if former != nil {
			now.ID = former.ID
		}
		if err := s.storeMaterial(now, secret); err != nil {
			return err
		}
		if len(k.Materials) == 0 {
			k.Disabled = false
		}
		replaced, k.Materials = k.Materials, []backing{*now}
		*k.Imported = imported{Model: expires, ValidTo: until, Description: in.Description}
		if until.IsZero() {
			k.Imported.Model = neverExpires
		}
		out.Key, out.Material = k.arn(), now.ID
		return nil
	})
	if err == nil {
		for i := range replaced {
			s.removeMaterial(in.Key, &replaced[i])
		}
	}
	return out, err
}

// checkSame returns an error unless the secret is the material that the key has had; former is nil if it has had none.
func (in *importMaterial) checkSame(former *backing, secret []byte) error {
	switch {
	case former == nil && in.Type == "EXISTING_KEY_MATERIAL":
		return incorrectMaterial("No key material has been imported into this KMS key yet.")
	case former == nil:
		return nil
	case in.Type == "NEW_KEY_MATERIAL":
		return unsupported("A second key material of a KMS key (ImportType NEW_KEY_MATERIAL)")
	case former.Sum != materialSum(secret), in.Material != "" && in.Material != former.ID:
		return incorrectMaterial("The key material in the request is not the same key material that was previously imported " +
			"into this KMS key.")
	}
	return nil
}

// unwrap returns the material in a request, which must be of the key's kind.
func (s *Service) unwrap(k *key, in *importMaterial) ([]byte, error) {
	// The lock of alter is held, so the secret is read here and not created.
	secret, err := os.ReadFile(s.path("import-tokens"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, invalidToken()
	}
	if err != nil {
		return nil, err
	}
	text, err := material.Open(secret, []byte(tokenPurpose), in.Token, nil)
	var t ticket
	if err != nil || json.Unmarshal(text, &t) != nil || t.Key != k.arn() {
		return nil, invalidToken()
	}
	if !s.now().Before(t.Until) {
		return nil, refuse("ExpiredImportTokenException", "The import token has expired.")
	}
	unwrapped, err := material.DecryptRSA(t.Private, t.Algorithm, in.Encrypted)
	if err != nil {
		return nil, err
	}
	if !k.spec().Accepts(unwrapped) {
		return nil, incorrectMaterial("The key material does not fit the key spec " + k.Spec + ".")
	}
	return unwrapped, nil
}

func invalidToken() error {
	return refuse("InvalidImportTokenException", "The import token is not one for this KMS key.")
}

type deleteMaterial struct {
	one
	Material string `json:"KeyMaterialId"`
}

func (s *Service) deleteImportedKeyMaterial(_ context.Context, scope aws.Scope, in *deleteMaterial) (*importedMaterial,
	error) {
	out := &importedMaterial{}
	var had *backing
	err := s.alter(scope, "DeleteImportedKeyMaterial", in.Key, func(k *key) error {
		if err := k.checkImportable(); err != nil {
			return err
		}
		out.Key = k.arn()
		if len(k.Materials) == 0 { // a second deletion changes nothing
			return nil
		}
		if id := k.Materials[0].ID; in.Material != "" && in.Material != id {
			return refuse(codeNotFound, "Key material '%s' does not exist", in.Material)
		}
		k.forget()
		had = k.Imported.Former
		out.Material = had.ID
		return nil
	})
	if err == nil && had != nil {
		s.removeMaterial(in.Key, had)
	}
	return out, err
}
