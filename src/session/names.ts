/** Words that are easy to read. There are 256 in each list, so that one random byte selects a word without bias. */
const ADJECTIVES = words(`
  agile airy alert ample amused ancient apt aqua arctic artful astute autumn avid aware balmy basic beaming
  blooming blue bold bonny brave brief bright brisk bronze bubbly busy candid caring casual cheery chief chilly
  chipper civic classic clean clear cloudy coastal compact cool copper coral cordial cosmic crafty crimson crisp
  crystal curious curly cyan dainty dandy dapper daring deep deft diligent docile dotted dusky dusty early earthy
  easy ebony elated elder elegant elfin epic even exact exotic expert fair famous fast fearless festive fine firm
  fleet floral fluent fluffy fond formal frank free fresh friendly frosty fuzzy gallant gentle gifted giving glad
  gleaming global gracious grateful green hardy harmonic hazel hearty helpful hidden honest hopeful icy ideal
  indigo ivory jade jaunty jazzy jolly jovial joyful keen kind lavish leafy level light limber linen lively local
  lofty loyal lucid lucky lunar maroon mellow mighty mild minty misty modest musical neat nimble noble nordic
  novel oaken ocean olive open orange pacific pastel patient peachy pearly peppy perky placid plucky plush poetic
  polar polished polite prompt proud pure quaint quick quiet radiant rapid ready regal relaxed robust round royal
  ruby rustic sandy savvy scarlet scenic secure serene shady shiny silent silken simple sincere skillful sleek
  smart smooth snowy snug social soft solar solid sonic spicy stable starry steady stellar still stoic sunny
  supple sweet swift tame tangy tawny teal tender thankful thrifty tidy timely tranquil trim true trusty twilit
  upbeat useful velvet verdant vernal vibrant violet vivid vocal warm wavy whimsical windy wise witty wooden woven
  zany zesty zippy
`);

const NOUNS = words(`
  acorn albatross almond alpaca anchor antelope apple apricot arbor aspen badger bamboo banjo basil beacon beaver
  beech beetle bell birch bison blossom bluebird bobcat bonfire brook buffalo butterfly button cabin cactus camel
  canary candle canoe canyon caravan cardinal caribou carrot castle cello cheetah cherry chestnut chipmunk cicada
  cliff coconut comet compass condor cougar coyote crane cricket crocus curlew cypress daffodil daisy dolphin dove
  dragonfly drum duckling dune eagle easel echidna egret elk elm ember emu falcon fennel fern ferret fiddle finch
  firefly fjord flute forest fountain galaxy garden garnet gazelle gecko geyser gibbon ginger giraffe glacier
  goldfish gopher grape grove guitar hamster harbor harp hawk hazelnut heron hickory hornbill hummingbird ibex
  ibis iguana impala inlet iris island ivy jaguar jay juniper kayak kestrel kettle kite kiwi koala lagoon lake
  lantern lark lavender lemon lemur leopard lilac lily lion lizard llama lobster lotus lynx macaw magnolia magpie
  mallard manatee mandolin mango maple marigold marlin marmot marten meerkat melon meteor mongoose moose mountain
  mulberry narwhal nebula nectar nightingale nutmeg oak oasis ocelot octopus okapi orchard orchid oriole osprey
  ostrich otter owl oyster panda panther papaya parrot peach peacock pelican penguin peony pepper petunia pheasant
  pigeon pine plateau plover plum pony poplar poppy porcupine prairie puffin puma quail quince quokka rabbit
  raccoon raven reef reindeer ridge river robin rocket rose saffron salmon sandpiper seal sequoia shark sparrow
  spruce squirrel starling stork sunflower swan tapir teapot terrapin thistle thrush tiger toucan trout tulip tuna
  turtle valley viola violin walnut walrus warbler waterfall whale willow wombat woodpecker wren yak zebra zinnia
`);

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

/** Returns a readable name such as `brisk-otter`: one of 65,536, selected by the low 16 bits of `random`. */
export function nameFor(random: number): string {
  return `${ADJECTIVES[random & 0xff]}-${NOUNS[(random >>> 8) & 0xff]}`;
}

/** Returns the same name with a number from 2 to 9999 (`brisk-otter-4711`), which the high 16 bits select. */
export function numberedNameFor(random: number): string {
  return `${nameFor(random)}-${2 + ((random >>> 16) % 9998)}`;
}
