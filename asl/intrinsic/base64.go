package intrinsic

import (
	"encoding/base64"
	"errors"
	"strings"

	"stepback/asl/jsonvalue"
)

// base64Encode is States.Base64Encode: the alphabet of MIME on one line.
func base64Encode(values []jsonvalue.Value, _ Env) (jsonvalue.Value, error) {
	text, err := base64Data(values[0])
	if err != nil {
		return jsonvalue.Value{}, err
	}
	return jsonvalue.OfString(base64.StdEncoding.EncodeToString([]byte(text))), nil
}

// base64Decode is States.Base64Decode. It ignores line breaks, as MIME asks for; bytes that are not UTF-8 become U+FFFD.
func base64Decode(values []jsonvalue.Value, _ Env) (jsonvalue.Value, error) {
	text, err := base64Data(values[0])
	if err != nil {
		return jsonvalue.Value{}, err
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return jsonvalue.Value{}, errors.New("the data is not Base64: " + err.Error())
	}
	return jsonvalue.OfString(strings.ToValidUTF8(string(data), "\uFFFD")), nil
}

func base64Data(v jsonvalue.Value) (string, error) {
	if v.Kind() != jsonvalue.String {
		return "", wrongKind("the data", v, jsonvalue.String)
	}
	return v.Text(), checkData(v.Text())
}
