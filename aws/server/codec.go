package server

import (
	"mime"
	"net/http"
	"strings"

	"stepback/aws/model"
)

// codec encodes and decodes messages of one protocol.
type codec interface {
	// contentType returns the default Content-Type of responses and errors.
	contentType(*Service) string
	// operation returns the name of the requested operation.
	operation(*call) (string, error)
	// read decodes the document of a request.
	read(c *call, body []byte, to *Request) error
	// write encodes a response.
	write(c *call, a *Answer, to *reply) error
	// fail encodes an error.
	fail(c *call, f *fault, to *reply)
}

// codecOf returns the protocol of a request, out of those that the service supports. It recognizes a protocol by
// marks that no other protocol has. Without such a mark, it returns the protocol that the model names first.
func (s *Service) codecOf(r *http.Request) codec {
	p := s.protocolOf(r)
	switch p {
	case model.JSON:
		return jsonCodec{}
	case model.CBOR:
		return cborCodec{}
	case model.Query:
		return queryCodec{}
	case model.EC2:
		return queryCodec{ec2: true}
	case model.RESTXML:
		return restCodec{xml: true}
	default:
		return restCodec{}
	}
}

func (s *Service) protocolOf(r *http.Request) model.Protocol {
	if len(s.model.Protocols) == 1 {
		return s.model.Protocols[0]
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		media = ""
	}
	for _, p := range s.model.Protocols {
		marked := false
		switch p {
		case model.CBOR:
			marked = r.Header.Get("Smithy-Protocol") == smithyCBOR
		case model.JSON:
			marked = strings.HasPrefix(media, mediaJSON) || r.Header.Get("X-Amz-Target") != ""
		case model.Query, model.EC2:
			marked = media == mediaForm || r.URL.Query().Has("Action")
		default:
		}
		if marked {
			return p
		}
	}
	return s.model.Protocols[0]
}

// The media types and marks of the protocols.
const (
	mediaJSON   = "application/x-amz-json-"
	mediaForm   = "application/x-www-form-urlencoded"
	mediaCBOR   = "application/cbor"
	mediaXML    = "application/xml"
	mediaText   = "text/xml"
	mediaREST   = "application/json"
	mediaBytes  = "application/octet-stream"
	mediaEvents = "application/vnd.amazon.eventstream"
	smithyCBOR  = "rpc-v2-cbor"
)
