#include "usual.h"

#include <string.h>

static unsigned turn_of(const struct usual *usual)
{
	return __atomic_load_n(&usual->turn, __ATOMIC_SEQ_CST);
}

/* Nobody waits for anybody: who finds another at it leaves it at that. Should a keeper be killed in the middle, nothing
 * is usual from then on, and kits are made when they are asked for. */
void usual_note(struct usual *usual, const char *key, size_t length)
{
	unsigned turn = turn_of(usual);
	if (length > USUAL_MAX)
		length = 0;
	if (turn % 2 == 1 || (usual->length == length && (length == 0 || memcmp(usual->key, key, length) == 0)))
		return;
	if (!__atomic_compare_exchange_n(&usual->turn, &turn, turn + 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return;
	usual->length = length;
	if (length > 0)
		memcpy(usual->key, key, length);
	__atomic_store_n(&usual->turn, turn + 2, __ATOMIC_SEQ_CST);
}

bool usual_read(const struct usual *usual, char key[USUAL_MAX])
{
	unsigned turn = turn_of(usual);
	size_t length = usual->length;
	if (turn % 2 == 1 || length == 0 || length > USUAL_MAX)
		return false;
	memcpy(key, usual->key, length);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return turn_of(usual) == turn;
}
