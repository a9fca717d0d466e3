package traffic

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// The application's objects. Their fields are written in this order; names are as Java has them.

type user struct {
	ID      int64
	Name    string
	Email   string
	Phone   string
	Age     int32
	Active  bool
	Score   float64
	Created time.Time
	Address *address
	Tags    []string
}

type address struct{ Country, City, Street, Zip string }

type post struct {
	ID      int64
	Author  string
	Title   string
	Text    string
	Likes   int32
	Created time.Time
	Reply   bool
	Tags    []string
}

type order struct {
	ID       int64
	Customer int64
	Status   string
	Currency string
	Total    float64
	Created  time.Time
	Lines    []*line
	ShipTo   *address
}

type line struct {
	Sku      string
	Name     string
	Quantity int32
	Price    float64
}

func (*user) JavaClassName() string    { return "com.example.shop.api.model.User" }
func (*address) JavaClassName() string { return "com.example.shop.api.model.Address" }
func (*post) JavaClassName() string    { return "com.example.shop.api.model.Post" }
func (*order) JavaClassName() string   { return "com.example.shop.api.model.Order" }
func (*line) JavaClassName() string    { return "com.example.shop.api.model.OrderLine" }

// maker makes the objects of bodies.
type maker struct{ rng *rand.Rand }

// Most text is ASCII, some is not: it is walked differently.
var (
	words = strings.Fields(`able about account after again also always answer basket before begin best better between blue
		book bring build call change city clear close color come common cover custom daily deliver early easy every
		family fast first follow garden general good great green group heavy high home house idea image keep large
		later learn light little local long main make market mean morning never new night number often old open order
		other paper part people place plan point price public quick quiet ready red river road round same school second
		send seven short simple small sound spring stand start stone street strong summer sure table take thing think
		travel under until usual very walk warm water week white window winter wood work world write year young`)
	names   = strings.Fields(`Alice Bruno Chen Dora Emil Farah Goran Hana Ines José Kaito Lena Márta Nils Olga Pavel 王芳 李伟 Zoë Yusuf`)
	cities  = strings.Fields(`Amsterdam Bordeaux 上海 Dresden Espoo Firenze Genève 杭州 Innsbruck Kraków London Málaga`)
	lands   = strings.Fields(`NL FR CN DE FI IT CH AT PL GB ES`)
	states  = strings.Fields(`NEW PAID PACKED SHIPPED DELIVERED RETURNED`)
	moneys  = strings.Fields(`EUR USD CNY GBP`)
	tagList = strings.Fields(`new sale gift fragile vip bulk eco 限时 express backorder`)
)

func (m maker) one(list []string) string { return list[m.rng.IntN(len(list))] }

func (m maker) text(n int) string {
	var b strings.Builder
	for range n {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		if m.rng.IntN(40) == 0 {
			b.WriteString(m.one(cities))
		} else {
			b.WriteString(m.one(words))
		}
	}
	return b.String()
}

// list returns one to three of the tags, never an empty slice: the encoder takes all of those for the same object.
func (m maker) list() []string {
	tags := make([]string, 1+m.rng.IntN(3))
	for i := range tags {
		tags[i] = m.one(tagList)
	}
	return tags
}

func (m maker) time() time.Time {
	return time.UnixMilli(epochMillis - m.rng.Int64N(300*24*3600*1000)).UTC()
}

func (m maker) money() float64 { return float64(m.rng.IntN(100_000)) / 100 }

func (m maker) address() *address {
	return &address{
		Country: m.one(lands), City: m.one(cities),
		Street: fmt.Sprintf("%s %d", m.one(words), m.rng.IntN(200)), Zip: fmt.Sprintf("%05d", m.rng.IntN(100_000)),
	}
}

func (m maker) user() *user {
	name := m.one(names)
	return &user{
		ID: m.rng.Int64N(1 << 40), Name: name, Email: fmt.Sprintf("%s.%s@example.com", m.one(words), m.one(words)),
		Phone: fmt.Sprintf("+%d", 1e10+m.rng.Int64N(9e10)), Age: m.rng.Int32N(80), Active: m.rng.IntN(4) > 0,
		Score: m.rng.Float64(), Created: m.time(), Address: m.address(), Tags: m.list(),
	}
}

func (m maker) post() *post {
	return &post{
		ID: m.rng.Int64N(1 << 40), Author: m.one(names), Title: m.text(2 + m.rng.IntN(4)), Text: m.text(5 + m.rng.IntN(30)),
		Likes: m.rng.Int32N(3000), Created: m.time(), Reply: m.rng.IntN(3) == 0, Tags: m.list(),
	}
}

func (m maker) order() *order {
	o := &order{
		ID: m.rng.Int64N(1 << 40), Customer: m.rng.Int64N(1 << 30), Status: m.one(states), Currency: m.one(moneys),
		Total: m.money(), Created: m.time(), ShipTo: m.address(), Lines: make([]*line, 1+m.rng.IntN(4)),
	}
	for i := range o.Lines {
		o.Lines[i] = &line{
			Sku: fmt.Sprintf("SKU-%06d", m.rng.IntN(1_000_000)), Name: m.text(1 + m.rng.IntN(2)),
			Quantity: 1 + m.rng.Int32N(12), Price: m.money(),
		}
	}
	return o
}

// things returns a list of n objects of one of the three kinds; nil when n is 0.
func (m maker) things(kind, n int) any {
	if n == 0 {
		return nil
	}
	switch kind % 3 {
	case 0:
		return fill(n, m.user)
	case 1:
		return fill(n, m.post)
	}
	return fill(n, m.order)
}

func fill[T any](n int, one func() *T) []*T {
	list := make([]*T, n)
	for i := range list {
		list[i] = one()
	}
	return list
}
