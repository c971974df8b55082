// Package material implements the cryptography of KMS keys: it generates key material, encrypts, decrypts, signs,
// verifies and computes MACs. Symmetric keys seal with AES-256-GCM and use the encryption context as additional data;
// RSA, elliptic curve and Ed25519 keys and HMAC come from Go's standard library.
//
// It knows nothing about key names, policies or states, and stores nothing. Key specs that Go's standard library
// lacks (SECG P-256K1, SM2, ML-DSA) return ErrUnsupported.
package material
