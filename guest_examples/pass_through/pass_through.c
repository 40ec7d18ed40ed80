// Every event goes on as it came: the smallest guest.
#define WH_TAKES_BYTES
#include "wasm_host.h"

static void wh_on_config(wh_entry config) { wh_open(config, WH_TEXT("")); }

static wh_answer wh_on_bytes(wh_bytes bytes) { return wh_pack(0, bytes); }
