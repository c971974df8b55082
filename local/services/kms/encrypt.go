package kms

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/jsonvalue"
	"stepback/local/services/kms/material"
)

// dryRun is embedded in requests that can ask whether the operation would succeed without executing it.
type dryRun struct{ DryRun bool }

func (d dryRun) check() error {
	if d.DryRun {
		return refuse("DryRunOperationException", "The request would have succeeded, but the DryRun option is set.")
	}
	return nil
}

// recipient is embedded in requests that Nitro enclaves can make.
type recipient struct{ Recipient jsonvalue.Value }

func (r recipient) check() error {
	if !r.Recipient.IsNull() {
		return unsupported("A recipient (Recipient)")
	}
	return nil
}

type encrypt struct {
	one
	Plaintext []byte
	Context   map[string]string `json:"EncryptionContext"`
	Algorithm string            `json:"EncryptionAlgorithm"`
	dryRun
}

type encrypted struct {
	Ciphertext []byte `json:"CiphertextBlob"`
	Key        string `json:"KeyId"`
	Algorithm  string `json:"EncryptionAlgorithm"`
}

func (s *Service) encrypt(_ context.Context, scope aws.Scope, in *encrypt) (*encrypted, error) {
	k, err := s.usable(scope, in.Key, material.EncryptDecrypt, "Encrypt")
	if err == nil {
		err = in.check()
	}
	if err != nil {
		return nil, err
	}
	algorithm, err := k.algorithm(in.Algorithm)
	if err != nil {
		return nil, err
	}
	ciphertext, err := s.seal(k, algorithm, in.Plaintext, in.Context)
	if err != nil {
		return nil, err
	}
	return &encrypted{ciphertext, k.arn(), algorithm}, nil
}

// algorithm returns the algorithm that a request names, or the default if name is empty. It returns an error if the
// key does not support it.
func (k *key) algorithm(name string) (string, error) {
	name = cmp.Or(name, material.Symmetric)
	if !slices.Contains(k.spec().Encryption, name) {
		return "", refuse("InvalidKeyUsageException", "Algorithm %s and key spec %s are incompatible.", name, k.Spec)
	}
	return name, nil
}

// A ciphertext of a symmetric key consists of a version, the key's ID, the material's ID and the output of Seal.
// Each ID is preceded by its length. Everything before the output of Seal is authenticated, too.
const ciphertextVersion = 1

// seal encrypts with the newest material of a key.
func (s *Service) seal(k *key, algorithm string, plaintext []byte, context map[string]string) ([]byte, error) {
	secret, err := s.material(k)
	if err != nil {
		return nil, err
	}
	if algorithm != material.Symmetric {
		most, err := material.MostRSA(secret, algorithm)
		if err != nil {
			return nil, err
		}
		if len(plaintext) > most {
			return nil, server.Invalid(fmt.Sprintf("Algorithm %s and key spec %s cannot encrypt data larger than %d bytes.", algorithm,
				k.Spec, most))
		}
		return material.EncryptRSA(secret, algorithm, plaintext)
	}
	header := []byte{ciphertextVersion}
	for _, part := range []string{k.ID, k.Materials[len(k.Materials)-1].ID} {
		header = append(append(header, byte(len(part))), part...)
	}
	sealed, err := material.Seal(secret, header, plaintext, context)
	return append(header, sealed...), err
}

// headerOf splits a ciphertext into its parts.
func headerOf(ciphertext []byte) (key, backing string, header, sealed []byte, err error) {
	rest := ciphertext
	if len(rest) == 0 || rest[0] != ciphertextVersion {
		return "", "", nil, nil, material.ErrCiphertext
	}
	rest = rest[1:]
	for _, to := range []*string{&key, &backing} {
		if len(rest) == 0 || len(rest) <= int(rest[0]) {
			return "", "", nil, nil, material.ErrCiphertext
		}
		*to, rest = string(rest[1:1+rest[0]]), rest[1+rest[0]:]
	}
	return key, backing, ciphertext[:len(ciphertext)-len(rest)], rest, nil
}

type decrypt struct {
	one
	Ciphertext []byte            `json:"CiphertextBlob"`
	Context    map[string]string `json:"EncryptionContext"`
	Algorithm  string            `json:"EncryptionAlgorithm"`
	For        jsonvalue.Value   `json:"Recipient"`
	dryRun
}

type decrypted struct {
	Key       string `json:"KeyId"`
	Plaintext []byte
	Algorithm string `json:"EncryptionAlgorithm"`
	Material  string `json:"KeyMaterialId,omitempty"`
	*forRecipient
}

// forRecipient is embedded in the responses to Nitro enclaves.
type forRecipient struct {
	Ciphertext []byte `json:"CiphertextForRecipient,omitempty"`
}

func (s *Service) decrypt(_ context.Context, scope aws.Scope, in *decrypt) (*decrypted, error) {
	return s.openCiphertext(scope, "Decrypt", in)
}

// openCiphertext decrypts a ciphertext. A symmetric ciphertext names its key; if the request names a key, it must be
// the same one.
func (s *Service) openCiphertext(scope aws.Scope, operation string, in *decrypt) (*decrypted, error) {
	if err := (recipient{in.For}).check(); err != nil {
		return nil, err
	}
	if cmp.Or(in.Algorithm, material.Symmetric) != material.Symmetric {
		return s.openedRSA(scope, operation, in)
	}
	id, backingID, header, sealed, err := headerOf(in.Ciphertext)
	var named *key
	if in.Key != "" {
		k, e := s.usable(scope, in.Key, material.EncryptDecrypt, operation)
		if e != nil {
			return nil, e
		}
		named, scope = k, k.scope
	}
	if err != nil {
		return nil, err
	}
	if named != nil && named.ID != id {
		return nil, refuse("IncorrectKeyException",
			"The key ID in the request does not identify a CMK that can perform this operation.")
	}
	k, err := s.byID(scope, id)
	switch {
	case err != nil:
		return nil, err
	case k == nil:
		return nil, material.ErrCiphertext
	}
	if k.state() == pendingImport {
		return nil, k.checkHasMaterial()
	}
	i := slices.IndexFunc(k.Materials, func(m backing) bool { return m.ID == backingID })
	if i < 0 {
		return nil, material.ErrCiphertext
	}
	if err := k.usable(material.EncryptDecrypt, operation); err != nil {
		return nil, err
	}
	secret, err := k.Materials[i].read(s.opts.Dir)
	if err != nil {
		return nil, err
	}
	plaintext, err := material.Open(secret, header, sealed, in.Context)
	if err == nil {
		err = in.check()
	}
	if err != nil {
		return nil, err
	}
	return &decrypted{Key: k.arn(), Plaintext: plaintext, Algorithm: material.Symmetric, Material: backingID}, nil
}

func (s *Service) openedRSA(scope aws.Scope, operation string, in *decrypt) (*decrypted, error) {
	if in.Key == "" {
		return nil, server.Invalid("KeyId is required for asymmetric keys.")
	}
	k, err := s.usable(scope, in.Key, material.EncryptDecrypt, operation)
	if err != nil {
		return nil, err
	}
	algorithm, err := k.algorithm(in.Algorithm)
	if err != nil {
		return nil, err
	}
	private, err := s.material(k)
	if err != nil {
		return nil, err
	}
	plaintext, err := material.DecryptRSA(private, algorithm, in.Ciphertext)
	if err == nil {
		err = in.check()
	}
	if err != nil {
		return nil, err
	}
	return &decrypted{Key: k.arn(), Plaintext: plaintext, Algorithm: algorithm}, nil
}

type reEncrypt struct {
	Ciphertext    []byte            `json:"CiphertextBlob"`
	SourceContext map[string]string `json:"SourceEncryptionContext"`
	Source        string            `json:"SourceKeyId"`
	Key           string            `json:"DestinationKeyId"`
	Context       map[string]string `json:"DestinationEncryptionContext"`
	SourceBy      string            `json:"SourceEncryptionAlgorithm"`
	By            string            `json:"DestinationEncryptionAlgorithm"`
	dryRun
}

type reEncrypted struct {
	Ciphertext     []byte `json:"CiphertextBlob"`
	Source         string `json:"SourceKeyId"`
	Key            string `json:"KeyId"`
	SourceBy       string `json:"SourceEncryptionAlgorithm"`
	By             string `json:"DestinationEncryptionAlgorithm"`
	SourceMaterial string `json:"SourceKeyMaterialId,omitempty"`
	Material       string `json:"DestinationKeyMaterialId,omitempty"`
}

func (s *Service) reEncrypt(_ context.Context, scope aws.Scope, in *reEncrypt) (*reEncrypted, error) {
	from, err := s.openCiphertext(scope, "ReEncrypt", &decrypt{one: one{in.Source}, Ciphertext: in.Ciphertext,
		Context: in.SourceContext, Algorithm: in.SourceBy})
	if err != nil {
		return nil, err
	}
	k, err := s.usable(scope, in.Key, material.EncryptDecrypt, "ReEncrypt")
	if err == nil {
		err = in.check()
	}
	if err != nil {
		return nil, err
	}
	algorithm, err := k.algorithm(in.By)
	if err != nil {
		return nil, err
	}
	out := &reEncrypted{Source: from.Key, Key: k.arn(), SourceBy: from.Algorithm, By: algorithm,
		SourceMaterial: from.Material}
	out.Ciphertext, err = s.seal(k, algorithm, from.Plaintext, in.Context)
	if algorithm == material.Symmetric {
		out.Material = k.Materials[len(k.Materials)-1].ID
	}
	return out, err
}

type generateDataKey struct {
	one
	Context map[string]string `json:"EncryptionContext"`
	Bytes   int               `json:"NumberOfBytes"`
	Spec    string            `json:"KeySpec"`
	recipient
	dryRun
}

type dataKey struct {
	Ciphertext []byte `json:"CiphertextBlob"`
	Plaintext  []byte `json:"Plaintext"`
	Key        string `json:"KeyId"`
	Material   string `json:"KeyMaterialId"`
	*forRecipient
}

type hiddenDataKey struct {
	Ciphertext []byte `json:"CiphertextBlob"`
	Key        string `json:"KeyId"`
	Material   string `json:"KeyMaterialId"`
}

func (s *Service) generateDataKey(_ context.Context, scope aws.Scope, in *generateDataKey) (*dataKey, error) {
	if (in.Spec == "") == (in.Bytes == 0) {
		return nil, server.Invalid("Please specify either number of bytes or key spec.")
	}
	n := in.Bytes
	switch in.Spec {
	case "AES_128":
		n = 16
	case "AES_256":
		n = 32
	}
	k, err := s.dataKeyParent(scope, in.Key, "GenerateDataKey", in.recipient, in.dryRun)
	if err != nil {
		return nil, err
	}
	out := &dataKey{Plaintext: material.Random(n), Key: k.arn()}
	out.Ciphertext, err = s.seal(k, material.Symmetric, out.Plaintext, in.Context)
	out.Material = k.Materials[len(k.Materials)-1].ID
	return out, err
}

// dataKeyParent returns the symmetric key named by a request for a data key.
func (s *Service) dataKeyParent(scope aws.Scope, named, operation string, to recipient, dry dryRun) (*key, error) {
	if err := to.check(); err != nil {
		return nil, err
	}
	k, err := s.usable(scope, named, material.EncryptDecrypt, operation)
	if err != nil {
		return nil, err
	}
	if _, err := k.algorithm(material.Symmetric); err != nil {
		return nil, refuse("InvalidKeyUsageException", "%s key spec is %s which is not valid for %s.", k.arn(), k.Spec,
			operation)
	}
	return k, dry.check()
}

func (s *Service) generateDataKeyWithoutPlaintext(ctx context.Context, scope aws.Scope,
	in *generateDataKey) (*hiddenDataKey, error) {
	if in.Spec == "" && in.Bytes == 0 {
		in.Spec = "AES_256"
	}
	made, err := s.generateDataKey(ctx, scope, in)
	if err != nil {
		return nil, err
	}
	return &hiddenDataKey{made.Ciphertext, made.Key, made.Material}, nil
}

type generatePair struct {
	one
	Context map[string]string `json:"EncryptionContext"`
	Spec    string            `json:"KeyPairSpec"`
	recipient
	dryRun
}

type hiddenPair struct {
	Private  []byte `json:"PrivateKeyCiphertextBlob"`
	Public   []byte `json:"PublicKey"`
	Key      string `json:"KeyId"`
	Spec     string `json:"KeyPairSpec"`
	Material string `json:"KeyMaterialId"`
}

type pair struct {
	hiddenPair
	Plaintext []byte `json:"PrivateKeyPlaintext"`
	*forRecipient
}

func (s *Service) generateDataKeyPair(_ context.Context, scope aws.Scope, in *generatePair) (*pair, error) {
	spec, err := material.SpecOf(in.Spec)
	if err != nil {
		return nil, err
	}
	k, err := s.dataKeyParent(scope, in.Key, "GenerateDataKeyPair", in.recipient, in.dryRun)
	if err != nil {
		return nil, err
	}
	out := &pair{hiddenPair: hiddenPair{Key: k.arn(), Spec: in.Spec}}
	if out.Plaintext, err = spec.Generate(); err != nil {
		return nil, err
	}
	if out.Public, err = material.Public(out.Plaintext); err != nil {
		return nil, err
	}
	out.Private, err = s.seal(k, material.Symmetric, out.Plaintext, in.Context)
	out.Material = k.Materials[len(k.Materials)-1].ID
	return out, err
}

func (s *Service) generateDataKeyPairWithoutPlaintext(ctx context.Context, scope aws.Scope,
	in *generatePair) (*hiddenPair, error) {
	made, err := s.generateDataKeyPair(ctx, scope, in)
	if err != nil {
		return nil, err
	}
	return &made.hiddenPair, nil
}

type generateRandom struct {
	Bytes int    `json:"NumberOfBytes"`
	Store string `json:"CustomKeyStoreId"`
	recipient
}

type random struct {
	Plaintext []byte
	*forRecipient
}

func (s *Service) generateRandom(_ context.Context, _ aws.Scope, in *generateRandom) (*random, error) {
	switch {
	case in.Store != "":
		return nil, unsupported("A custom key store")
	case in.Bytes == 0:
		return nil, server.Invalid("NumberOfBytes is required.")
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	return &random{Plaintext: material.Random(in.Bytes)}, nil
}
