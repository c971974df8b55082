package kms

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/internal/atomicfile"
	"stepback/local/services/documents"
	"stepback/local/services/kms/material"
)

// key is a key as it is stored, without its material.
type key struct {
	scope aws.Scope

	ID, Spec, Usage string
	Description     string `json:",omitempty"`
	Manager         string // CUSTOMER or AWS
	MultiRegion     bool   `json:",omitempty"`
	Created         time.Time
	Disabled        bool              `json:",omitempty"`
	Deletion        time.Time         `json:",omitzero"`
	Policy          string            `json:",omitempty"` // empty for the default policy
	Tags            map[string]string `json:",omitempty"`
	RotationDays    int               `json:",omitempty"` // 0 means no automatic rotation
	RotatedFrom     time.Time         `json:",omitzero"`  // start of the current rotation period
	Materials       []backing         // of a key that rotates, newest last
	Grants          []grant           `json:",omitempty"`
	Imported        *imported         `json:",omitempty"` // nil unless the origin is EXTERNAL
}

// backing is one of the key materials that a key has had.
type backing struct {
	ID   string // hexadecimal
	From time.Time
	Type string `json:",omitempty"` // AUTOMATIC or ON_DEMAND; empty for the first one
	Sum  string `json:",omitempty"` // checksum; empty for a material of an earlier version
	File string `json:",omitempty"` // of imported material, a new one for each import; see file
}

// file returns the name of the material's file.
func (b *backing) file() string { return cmp.Or(b.File, b.ID) }

// The states of keys.
const (
	enabled         = "Enabled"
	disabled        = "Disabled"
	pendingDeletion = "PendingDeletion"
	pendingImport   = "PendingImport"
)

func (k *key) state() string {
	switch {
	case !k.Deletion.IsZero():
		return pendingDeletion
	case k.Imported != nil && len(k.Materials) == 0:
		return pendingImport
	case k.Disabled:
		return disabled
	}
	return enabled
}

func (k *key) arn() string { return k.scope.ARN("kms", "key/"+k.ID) }

func (k *key) spec() *material.Spec {
	s, err := material.SpecOf(k.Spec)
	if err != nil {
		return &material.Spec{}
	}
	return s
}

// The prefixes of store keys. The scope follows the prefix, so the records of a scope are adjacent.
const (
	keyPlace   = "key/"
	aliasPlace = "alias/"
)

func place(kind string, scope aws.Scope, name string) string {
	return kind + scope.Account + "/" + scope.Region + "/" + name
}

// keep adds a key's record to a batch.
func (s *Service) keep(b *documents.Batch, k *key) error {
	return s.put(b, place(keyPlace, k.scope, k.ID), k)
}

// byID returns the key with an ID, or nil if there is none. A key past its deletion date does not exist.
func (s *Service) byID(scope aws.Scope, id string) (*key, error) {
	k := &key{scope: scope}
	found, err := s.get(place(keyPlace, scope, id), k)
	if err != nil || !found || s.gone(k) {
		return nil, err
	}
	s.expire(k)
	return k, nil
}

// expire forgets and removes the material of a key if it has expired.
func (s *Service) expire(k *key) {
	if k.expire(s.now()) {
		s.removeMaterial(k.ID, k.Imported.Former)
	}
}

// removeMaterial removes the file of a material that its key does not have any more.
func (s *Service) removeMaterial(key string, b *backing) {
	if err := os.Remove(s.path(b.file())); err != nil && !errors.Is(err, fs.ErrNotExist) && s.opts.Log != nil {
		s.opts.Log.Error("the material of a KMS key is still there", "key", key, "error", err)
	}
}

// gone reports whether the key's deletion date has passed. If it has, gone removes the key's material.
func (s *Service) gone(k *key) bool {
	if k.Deletion.IsZero() || s.now().Before(k.Deletion) {
		return false
	}
	for i := range k.Materials {
		s.removeMaterial(k.ID, &k.Materials[i])
	}
	return true
}

// all returns the keys of a scope, ordered by ID.
func (s *Service) all(scope aws.Scope) (all []*key, err error) {
	err = s.table.Scan(place(keyPlace, scope, ""), func(_ string, text []byte) error {
		k := &key{scope: scope}
		if err := json.Unmarshal(text, k); err != nil {
			return err
		}
		if !s.gone(k) {
			s.expire(k)
			all = append(all, k)
		}
		return nil
	})
	return all, err
}

// find returns the key that a request names by ID, ARN, alias name or alias ARN.
func (s *Service) find(scope aws.Scope, named string) (*key, error) {
	name := named
	if arn, ok := aws.ParseARN(named); ok {
		if arn.Service != "kms" {
			return nil, refuse("InvalidArnException", "Invalid arn %s", named)
		}
		scope, name = arn.Scope(), arn.Resource
	} else if strings.HasPrefix(named, "arn:") {
		return nil, refuse("InvalidArnException", "Invalid arn %s", named)
	}
	if strings.HasPrefix(name, aliasPlace) {
		return s.byAlias(scope, name)
	}
	id := strings.TrimPrefix(name, "key/")
	k, err := s.byID(scope, id)
	if err == nil && k == nil {
		if !isID(id) {
			return nil, refuse(codeNotFound, "Invalid keyId '%s'", id)
		}
		err = refuse(codeNotFound, "Key '%s' does not exist", scope.ARN("kms", "key/"+id))
	}
	return k, err
}

const codeNotFound = "NotFoundException"

// isID reports whether id has the form of a key ID: a UUID, or the ID of a multi-Region key.
func isID(id string) bool {
	id = strings.TrimPrefix(id, "mrk-")
	b, err := hex.DecodeString(strings.ReplaceAll(id, "-", ""))
	return err == nil && len(b) == 16
}

// usable returns the key that a request names. It returns an error unless the key is enabled and has the usage that
// the operation needs.
func (s *Service) usable(scope aws.Scope, named, usage, operation string) (*key, error) {
	k, err := s.find(scope, named)
	if err != nil {
		return nil, err
	}
	return k, k.usable(usage, operation)
}

func (k *key) usable(usage, operation string) error {
	switch {
	case k.state() == disabled:
		return refuse("DisabledException", "%s is disabled.", k.arn())
	case k.state() != enabled:
		return k.checkHasMaterial()
	case usage != "" && k.Usage != usage:
		return refuse("InvalidKeyUsageException", "%s key usage is %s which is not valid for %s.", k.arn(), k.Usage, operation)
	}
	return nil
}

// checkNotPending returns an error if the key is pending deletion.
func (k *key) checkNotPending() error {
	if k.state() != pendingDeletion {
		return nil
	}
	return refuse("KMSInvalidStateException", "%s is pending deletion.", k.arn())
}

// checkHasMaterial returns an error if the key is pending deletion or has no material yet.
func (k *key) checkHasMaterial() error {
	if k.state() == pendingImport {
		return refuse("KMSInvalidStateException", "%s is pending import.", k.arn())
	}
	return k.checkNotPending()
}

// path returns the path of a file in the directory of the material.
func (s *Service) path(name string) string { return filepath.Join(s.opts.Dir, name) }

// newMaterial generates key material and stores it before the key becomes visible.
func (s *Service) newMaterial(k *key, kind string) error {
	drawn, err := k.spec().Generate()
	if err != nil {
		return err
	}
	b := newBacking(s.now())
	b.Type = kind
	if err := s.storeMaterial(b, drawn); err != nil {
		return err
	}
	k.Materials = append(k.Materials, *b)
	return nil
}

// newBacking returns a material with a new ID.
func newBacking(now time.Time) *backing {
	const bytes = 32
	return &backing{ID: hex.EncodeToString(material.Random(bytes)), From: now}
}

// storeMaterial writes the file of a material.
func (s *Service) storeMaterial(b *backing, secret []byte) error {
	const own = 0o700
	if err := os.MkdirAll(s.opts.Dir, own); err != nil {
		return err
	}
	b.Sum = materialSum(secret)
	return atomicfile.Write(s.path(b.file()), secret, 0o600)
}

// material returns the newest material of a key, after a rotation if one is due.
func (s *Service) material(k *key) ([]byte, error) {
	if err := s.rotate(k); err != nil {
		return nil, err
	}
	return k.Materials[len(k.Materials)-1].read(s.opts.Dir)
}

// metadata describes a key in responses.
type metadata struct {
	Account     string       `json:"AWSAccountId"`
	ID          string       `json:"KeyId"`
	ARN         string       `json:"Arn"`
	Created     server.Time  `json:"CreationDate"`
	Enabled     bool         `json:"Enabled"`
	Description string       `json:"Description"`
	Usage       string       `json:"KeyUsage"`
	State       string       `json:"KeyState"`
	Deletion    *server.Time `json:"DeletionDate,omitempty"`
	Origin      string       `json:"Origin"`
	Manager     string       `json:"KeyManager"`
	OldSpec     string       `json:"CustomerMasterKeySpec"`
	Spec        string       `json:"KeySpec"`
	Encryption  []string     `json:"EncryptionAlgorithms,omitempty"`
	Signing     []string     `json:"SigningAlgorithms,omitempty"`
	Agreement   []string     `json:"KeyAgreementAlgorithms,omitempty"`
	MAC         []string     `json:"MacAlgorithms,omitempty"`
	MultiRegion bool         `json:"MultiRegion"`
	Regions     *multiRegion `json:"MultiRegionConfiguration,omitempty"`
	MaterialID  string       `json:"CurrentKeyMaterialId,omitempty"`
	Expires     string       `json:"ExpirationModel,omitempty"`
	ValidTo     *server.Time `json:"ValidTo,omitempty"`
	*unsupportedMembers
}

// unsupportedMembers holds the members of keys that are in custom key stores, or replicas. They are never set here.
type unsupportedMembers struct {
	CustomKeyStoreId            json.RawMessage `json:",omitempty"` //nolint:revive // the model's name
	CloudHsmClusterId           json.RawMessage `json:",omitempty"` //nolint:revive // as above
	PendingDeletionWindowInDays json.RawMessage `json:",omitempty"`
	XksKeyConfiguration         json.RawMessage `json:",omitempty"`
}

type multiRegion struct {
	Type     string   `json:"MultiRegionKeyType"`
	Primary  region   `json:"PrimaryKey"`
	Replicas []region `json:"ReplicaKeys"`
}

type region struct {
	ARN    string `json:"Arn"`
	Region string
}

func (k *key) metadata() *metadata {
	m := &metadata{Account: k.scope.Account, ID: k.ID, ARN: k.arn(), Created: server.Time(k.Created),
		Enabled: k.state() == enabled, Description: k.Description, Usage: k.Usage, State: k.state(), Origin: k.origin(),
		Manager: k.Manager, OldSpec: k.Spec, Spec: k.Spec, MultiRegion: k.MultiRegion}
	if !k.Deletion.IsZero() {
		at := server.Time(k.Deletion)
		m.Deletion = &at
	}
	if k.MultiRegion {
		m.Regions = &multiRegion{"PRIMARY", region{k.arn(), k.scope.Region}, []region{}}
	}
	if k.Spec == material.Symmetric && len(k.Materials) > 0 {
		m.MaterialID = k.Materials[len(k.Materials)-1].ID
	}
	if i := k.Imported; i != nil {
		if m.Expires = i.Model; !i.ValidTo.IsZero() {
			until := server.Time(i.ValidTo)
			m.ValidTo = &until
		}
	}
	spec := k.spec()
	switch k.Usage {
	case material.EncryptDecrypt:
		m.Encryption = spec.Encryption
	case material.SignVerify:
		m.Signing = spec.Signing
	case material.KeyAgreement:
		m.Agreement = spec.Agreement
	default:
		m.MAC = spec.MAC
	}
	return m
}

// paging holds the paging members of a list request.
type paging struct {
	Limit  int
	Marker string
}

type nextPage struct {
	Next      string `json:"NextMarker,omitempty"`
	Truncated bool   `json:"Truncated"`
}

const pageSize = 100

// page returns one page of a list; name returns the unique name of an element.
func page[T any](in paging, list []T, name func(T) string) ([]T, nextPage, error) {
	begin := 0
	if in.Marker != "" {
		i := slices.IndexFunc(list, func(e T) bool { return name(e) == in.Marker })
		if i < 0 {
			return nil, nextPage{}, refuse("InvalidMarkerException", "Could not deserialize marker '%s'", in.Marker)
		}
		begin = i
	}
	list = list[begin:]
	size := pageSize
	if in.Limit > 0 {
		size = in.Limit
	}
	if len(list) <= size {
		return list, nextPage{}, nil
	}
	return list[:size], nextPage{name(list[size]), true}, nil
}
