// Package material is the secret part of KMS's keys: it is drawn here, and encrypts, decrypts, signs, verifies and
// authenticates. Symmetric keys seal with AES-256-GCM, the encryption context being the additional data; RSA, elliptic
// curve and Ed25519 keys and HMAC are those of Go's standard library.
//
// It knows no key's name, policy or state, and keeps nothing. Kinds of keys that Go's standard library does not have
// (SECG P-256K1, SM2, ML-DSA) are ErrUnsupported.
package material
