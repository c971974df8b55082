package intrinsic

import (
	"crypto/md5"
	"crypto/sha1" //nolint:gosec // one of the five algorithms that the function offers
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"

	"stepback/jsonvalue"
)

// hash implements States.Hash, in lower-case hexadecimal. For a value that is not a string, its JSON text is hashed.
func hash(values []jsonvalue.Value, _ Env) (jsonvalue.Value, error) {
	text := values[0].Text()
	if values[0].Kind() != jsonvalue.String {
		var ok bool
		if text, ok = values[0].JSONUpTo(maxText); !ok {
			return jsonvalue.Value{}, errLong
		}
	}
	if err := checkData(text); err != nil {
		return jsonvalue.Value{}, err
	}
	if values[1].Kind() != jsonvalue.String {
		return jsonvalue.Value{}, wrongKind("the algorithm", values[1], jsonvalue.String)
	}
	sum, err := digest(values[1].Text(), []byte(text))
	if err != nil {
		return jsonvalue.Value{}, err
	}
	return jsonvalue.OfString(hex.EncodeToString(sum)), nil
}

func digest(algorithm string, data []byte) ([]byte, error) {
	switch algorithm {
	case "MD5":
		sum := md5.Sum(data)
		return sum[:], nil
	case "SHA-1":
		sum := sha1.Sum(data)
		return sum[:], nil
	case "SHA-256":
		sum := sha256.Sum256(data)
		return sum[:], nil
	case "SHA-384":
		sum := sha512.Sum384(data)
		return sum[:], nil
	case "SHA-512":
		sum := sha512.Sum512(data)
		return sum[:], nil
	default:
		return nil, fmt.Errorf("unknown algorithm '%s', expected MD5, SHA-1, SHA-256, SHA-384 or SHA-512", algorithm)
	}
}
