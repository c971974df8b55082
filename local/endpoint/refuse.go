package endpoint

import (
	"encoding/json"
	"encoding/xml"
	"net/http"
	"strings"
)

// refuse responds with an error in the format that the client reads: XML if requests are forms, like those of STS,
// IAM and SNS, and otherwise JSON.
func refuse(w http.ResponseWriter, r *http.Request, status int, code, message string) {
	media, encode := "application/json", asJSON
	if strings.HasPrefix(strings.ToLower(r.Header.Get("Content-Type")), "application/x-www-form-urlencoded") {
		media, encode = "text/xml", asXML
	}
	w.Header().Set("Content-Type", media)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("X-Amzn-Errortype", code)
	w.WriteHeader(status)
	_, _ = w.Write(encode(code, message)) // fails only if the client has gone
}

func asJSON(code, message string) []byte {
	body, err := json.Marshal(map[string]string{"__type": code, "message": message})
	if err != nil {
		return []byte("{}")
	}
	return body
}

func asXML(code, message string) []byte {
	type failure struct{ Type, Code, Message string }
	body, err := xml.Marshal(struct {
		XMLName xml.Name `xml:"ErrorResponse"`
		Error   failure
	}{Error: failure{"Sender", code, message}})
	if err != nil {
		return nil
	}
	return body
}
