package triple

import (
	"strconv"
	"strings"

	"dubbo-wire/internal/rpc"
)

// HeaderText returns what the value of a header means if its text does not show it: the name of a status, the messages in the details
// of one, a text without its percent-encoding, a time with its unit in words. It is "" for other headers.
func HeaderText(h *rpc.Header) string {
	if h.Unknown {
		return ""
	}
	switch h.Name {
	case "grpc-status":
		if n, err := strconv.ParseUint(h.Value, 10, 15); err == nil {
			return StatusText(int(n))
		}
	case "grpc-message", "tri-header-convert":
		if text := percentDecoded(h.Value); text != h.Value {
			return text
		}
	case "grpc-timeout":
		if millis, ok := parseTimeout(h.Name, h.Value); ok && !strings.HasSuffix(h.Value, "n") {
			return strconv.FormatInt(millis, 10) + " ms"
		}
	case "grpc-status-details-bin":
		if raw, ok := Base64(h.Value); ok {
			return detailsText(Details(raw))
		}
	}
	return ""
}

// maxDetailText is the number of bytes of a detail's text that are shown.
const maxDetailText = 100

// detailsText names the details of a status.
func detailsText(details []Detail) string {
	var all []string
	for _, d := range details {
		text := d.Text
		if len(text) > maxDetailText {
			text = strings.ToValidUTF8(text[:maxDetailText], "") + "..."
		}
		if text != "" {
			text = " " + strconv.Quote(text)
		}
		all = append(all, d.Type+text)
	}
	return strings.Join(all, ", ")
}
