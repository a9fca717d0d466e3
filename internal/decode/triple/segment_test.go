package triple

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestIDs(t *testing.T) {
	names := `users user-groups user_groups getUserById api v1 v2 V3 v10 v1beta1 v2beta1 v1alpha12 v1.10.2 v2024 2fa 3d 3ds 4k 7z 1st 2-step-verification 3d-secure
		oauth2 s3 log4j mp3 x86 base64 utf8 sha1 sha256 sha512 x509 iso8601 h264 e164 rs256 ipv4 b2b B2BOrders p2p k8s i18n web3 page2 area51
		@me @types $metadata $batch app.min.js index.html favicon.ico favicon-32.png .well-known openid-configuration swagger-ui.html
		messages:batchGet users.list org.acme.UserService com.github.smartbuf.dubbo.UserService.v2 healthz xmlhttprequest XMLHttpRequest graphql
		decade facade added defaced effaced feedback getS3BucketPolicy base64EncodeText convertPDF2HTML internationalization
		rhythms strengths authorizationcode aVeryLongCamelCaseNameOfAMethod findAllByNameAndCityOrderById JSONToHTMLConverter - _ . ..`
	for name := range strings.FieldsSeq(names) {
		assert.False(t, isID(name), name)
	}
	assert.False(t, isID(""))
	ids := `1 17 -3 1.5 1,2 007 12a 17b 0xdeadbeef 2024-02-29 20240229 2024-02-29T12:30:00Z 2024-W09 12:30 10.0.0.1 52.5,13.4 user123 INV-2024-001 A1234 v12345 v1234567890
		8b8a3c9e-6f0e-4c39-9d2e-1c2f7c3a5b60 FACEFEED-ABCD-ABCD-ABCD-ABCDEFABCDEF abcdefab-cdef-abcd-efab-cdefabcdefab
		d41d8cd98f00b204e9800998ecf8427e da39a3ee5e6b4b0d3255bfef95601890afd80709 deadbeef1 abcdefabcdefabcd 507f1f77bcf86cd799439011 a1b2c3d
		01ARZ3NDEKTSV4RRFFQ69G5FAV V1StGXR8_Z5jdHi6B-myT dQw4w9WgXcQ QWxhZGRpbjpvcGVuIHNlc2FtZQ cjfqkxwzvbnmplkd
		ann@example.org hello%20world %E5%A4%8F a+b ~ann key=value Users('ann') a,b S\u00e3o *`
	for id := range strings.FieldsSeq(strings.ReplaceAll(ids, `\u00e3`, "\u00e3")) {
		assert.True(t, isID(id), id)
		assert.True(t, isID([]byte(id)), id)
	}
	assert.Zero(t, testing.AllocsPerRun(100, func() { isID("sha256"); isID("V1StGXR8_Z5jdHi6B-myT") }))
}

// TestRandomIDs measures how many random ids are taken for names: none of those with hexadecimal digits, few of base64.
func TestRandomIDs(t *testing.T) {
	for _, length := range []int{9, 12, 16, 24} {
		missed := 0
		const count = 4000
		for i := range count {
			sum := sha256.Sum256([]byte{byte(i), byte(i >> 8), byte(length)})
			assert.True(t, isID(hex.EncodeToString(sum[:length])))
			if !isID(base64.RawURLEncoding.EncodeToString(sum[:length])) {
				missed++
			}
		}
		t.Logf("base64 of %d bytes: %.2f %% taken for names", length, 100*float64(missed)/count)
		assert.Less(t, missed, map[int]int{9: count * 40 / 100, 12: count * 15 / 100, 16: count * 5 / 100, 24: count / 100}[length], length)
	}
}

func TestResource(t *testing.T) {
	var o operations
	for _, c := range [][2]string{
		{"/", "/"},
		{"*", "*"},
		{"", ""},
		{"/users/17", "/users/{id}"},
		{"/users/17/", "/users/{id}/"},
		{"/users//17", "/users//{id}"},
		{"/cars/red;year=2024/wheels;v=1", "/cars/red/wheels"},
		{"/cars/17;year=2024", "/cars/{id}"},
		{"/app/list.do;jsessionid=0A1B2C", "/app/list.do"},
		{"/;a", "/"},
		{"/api/v2beta1/users/@me/2fa", "/api/v2beta1/users/@me/2fa"},
	} {
		assert.Equal(t, c[1], o.resource(c[0]), c[0])
	}
	assert.Zero(t, testing.AllocsPerRun(100, func() { o.resource("/users/17/") }))
}
