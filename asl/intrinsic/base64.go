package intrinsic

import (
	"encoding/base64"
	"errors"
	"strings"

	"stepback/jsonvalue"
)

// base64Encode implements States.Base64Encode: the MIME alphabet, on one line.
func base64Encode(values []jsonvalue.Value, _ Env) (jsonvalue.Value, error) {
	text, err := base64Data(values[0])
	if err != nil {
		return jsonvalue.Value{}, err
	}
	return jsonvalue.OfString(base64.StdEncoding.EncodeToString([]byte(text))), nil
}

// base64Decode implements States.Base64Decode. It ignores characters outside the alphabet, as MIME requires, and
// needs no padding, like Java's decoder. Bytes that are not UTF-8 become U+FFFD.
func base64Decode(values []jsonvalue.Value, _ Env) (jsonvalue.Value, error) {
	text, err := base64Data(values[0])
	if err != nil {
		return jsonvalue.Value{}, err
	}
	text, _, _ = strings.Cut(text, "=")
	data, err := base64.RawStdEncoding.DecodeString(strings.Map(inBase64, text))
	if err != nil {
		return jsonvalue.Value{}, errors.New("the data is not Base64: " + err.Error())
	}
	return jsonvalue.OfString(strings.ToValidUTF8(string(data), "\uFFFD")), nil
}

// inBase64 drops characters outside the MIME alphabet.
func inBase64(r rune) rune {
	switch {
	case 'A' <= r && r <= 'Z', 'a' <= r && r <= 'z', '0' <= r && r <= '9', r == '+', r == '/':
		return r
	default:
		return -1
	}
}

func base64Data(v jsonvalue.Value) (string, error) {
	if v.Kind() != jsonvalue.String {
		return "", wrongKind("the data", v, jsonvalue.String)
	}
	return v.Text(), checkData(v.Text())
}
