package wasmhost

const maxListEntries = 64

// Config is one map of the configuration. It is checked in the order in which it is asked. The first refusal counts; after
// it every question gets some harmless answer, so that a guest need not look after each one.
type Config struct {
	value   Value
	place   string
	refusal *string // shared by all maps of one configuration
}

func readConfig(input []byte) *Config {
	c := &Config{refusal: new(string)}
	value, ok := unpack(input)
	if !ok {
		c.Refuse("", "not valid MessagePack")
	}
	c.value = value
	return c
}

// Refuse refuses a place in the configuration, empty for the whole.
func (c *Config) Refuse(place, problem string) {
	if *c.refusal != "" {
		return
	}
	if place != "" {
		place += " "
	}
	*c.refusal = "configuration: " + place + problem
}

// Refused says whether something was refused.
func (c *Config) Refused() bool { return c.refused() }

func (c *Config) refused() bool { return *c.refusal != "" }

// Allow refuses anything but a map with these keys. Call it first.
func (c *Config) Allow(keys ...string) *Config {
	if c.value.Kind != Map {
		c.Refuse(c.place, "must be a map")
	}
	for _, key := range c.value.Keys {
		if key.Kind != String {
			c.Refuse(c.place, "has a key that is not a string")
		} else if indexOf(keys, key.Text) < 0 {
			c.Refuse("", "unknown key "+c.Place(key.Text))
		}
	}
	return c
}

// Place is how messages name a key of this map.
func (c *Config) Place(key string) string {
	if c.place == "" {
		return key
	}
	return c.place + "." + key
}

// Value is that of a key, and whether it is given; an explicit nil counts as given.
func (c *Config) Value(key string) (Value, bool) {
	for i := len(c.value.Keys) - 1; i >= 0; i-- {
		if c.value.Keys[i].Kind == String && c.value.Keys[i].Text == key {
			return c.value.Items[i], true
		}
	}
	return Value{}, false
}

// Has says whether a key is given.
func (c *Config) Has(key string) bool {
	_, found := c.Value(key)
	return found
}

// Required is the value of a key that must be given.
func (c *Config) Required(key string) Value {
	value, found := c.Value(key)
	if !found {
		c.Refuse(c.Place(key), "is missing")
	}
	return value
}

// String is text that is not empty.
func (c *Config) String(key string) string { return c.text(c.Required(key), c.Place(key)) }

func (c *Config) text(value Value, place string) string {
	if value.Kind != String {
		c.Refuse(place, "must be a string")
	} else if value.Text == "" {
		c.Refuse(place, "must not be empty")
	}
	return value.Text
}

// Choice is one of a few words, by its index; -1 if it is none of them.
func (c *Config) Choice(key string, choices ...string) int {
	value := c.Required(key)
	index := -1
	if value.Kind == String {
		index = indexOf(choices, value.Text)
	}
	if index < 0 {
		list := ""
		for i, choice := range choices {
			if i > 0 {
				list += ", "
			}
			list += choice
		}
		c.Refuse(c.Place(key), "must be one of "+list)
	}
	return index
}

// Int is a whole number within bounds.
func (c *Config) Int(key string, low, high int) int {
	value := c.Required(key)
	if value.Kind != Integer || value.Integer < int64(low) || value.Integer > int64(high) {
		c.Refuse(c.Place(key), "must be an integer from "+itoa(low)+" to "+itoa(high))
		return low
	}
	return int(value.Integer)
}

// Bool is true or false.
func (c *Config) Bool(key string) bool {
	value := c.Required(key)
	if value.Kind != Boolean {
		c.Refuse(c.Place(key), "must be true or false")
	}
	return value.Integer != 0
}

// Path is a dotted path.
func (c *Config) Path(key string) Path {
	text := c.String(key)
	if c.refused() {
		return nil
	}
	path, problem := parsePath(text)
	if problem != "" {
		c.Refuse(c.Place(key), problem)
	}
	return path
}

// Map is the map under a key.
func (c *Config) Map(key string) *Config {
	return &Config{c.Required(key), c.Place(key), c.refusal}
}

// Maps are the maps of a list of 1 to 64 entries; Allow tells whether each is one.
func (c *Config) Maps(key string) []*Config {
	var maps []*Config
	for i, value := range c.entries(key) {
		maps = append(maps, &Config{value, c.Place(key) + "[" + itoa(i) + "]", c.refusal})
	}
	return maps
}

// Strings are those of a list of 1 to 64 entries.
func (c *Config) Strings(key string) []string {
	var texts []string
	for i, value := range c.entries(key) {
		texts = append(texts, c.text(value, c.Place(key)+"["+itoa(i)+"]"))
	}
	return texts
}

func (c *Config) entries(key string) []Value {
	value := c.Required(key)
	if value.Kind != List {
		c.Refuse(c.Place(key), "must be a list")
		return nil
	}
	if len(value.Items) < 1 || len(value.Items) > maxListEntries {
		c.Refuse(c.Place(key), "must have from 1 to "+itoa(maxListEntries)+" entries")
		return nil
	}
	return value.Items
}

func indexOf(words []string, word string) int {
	for i := range words {
		if words[i] == word {
			return i
		}
	}
	return -1
}
