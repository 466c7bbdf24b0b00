import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { given, once, type Place, refused, type State, type Vendor } from '../kit.ts';

/** What a method of the client calls at its end: the client is generated, has callbacks and no types. */
type Back<Data> = (error: unknown, data: Data, response: { readonly status: number }) => void;
type Options = Record<string, string | number | boolean>;
type Id = string | number;

interface Connected {
  readonly username: string;
  readonly hash: string;
}
interface Planned {
  readonly id: number;
  readonly slot: number;
  readonly position: number;
  readonly type: string;
}
interface Week {
  readonly days: { readonly date: number; readonly day: string; readonly items?: Planned[] }[];
}
interface Shopping {
  readonly aisles: {
    readonly aisle: string;
    readonly items?: { readonly id: number; readonly name: string; readonly aisle: string }[];
  }[];
  readonly cost: number;
  readonly startDate: number;
  readonly endDate: number;
}
interface Titled {
  readonly id: number;
  readonly title: string;
}
interface Named {
  readonly id: number;
  readonly name: string;
}
interface Page {
  readonly number: number;
  readonly offset: number;
}
interface Meals {
  addToMealPlan(username: string, hash: string, item: object, back: Back<unknown>): unknown;
  addToShoppingList(username: string, hash: string, item: object, back: Back<Shopping>): unknown;
  clearMealPlanDay(username: string, date: string, hash: string, back: Back<unknown>): unknown;
  connectUser(user: object, back: Back<Connected>): unknown;
  deleteFromMealPlan(username: string, id: Id, hash: string, back: Back<unknown>): unknown;
  deleteFromShoppingList(username: string, id: Id, hash: string, back: Back<unknown>): unknown;
  deleteMealPlanTemplate(username: string, id: Id, hash: string, back: Back<unknown>): unknown;
  generateMealPlan(opts: Options, back: Back<{ readonly meals: Titled[]; readonly nutrients: Record<string, number> }>): unknown;
  generateShoppingList(username: string, from: string, to: string, hash: string, back: Back<Shopping>): unknown;
  getMealPlanTemplate(username: string, id: Id, hash: string, back: Back<Named & { readonly days: unknown[] }>): unknown;
  getMealPlanTemplates(username: string, hash: string, back: Back<{ readonly templates: Named[] }>): unknown;
  getMealPlanWeek(username: string, from: string, hash: string, back: Back<Week>): unknown;
  getShoppingList(username: string, hash: string, back: Back<Shopping>): unknown;
}
interface Recipes {
  autocompleteRecipeSearch(query: string, opts: Options, back: Back<Titled[]>): unknown;
  classifyCuisine(
    title: string,
    list: string,
    opts: Options,
    back: Back<{ readonly cuisine: string; readonly cuisines: string[]; readonly confidence: number }>,
  ): unknown;
  convertAmounts(
    name: string,
    amount: number,
    from: string,
    to: string,
    back: Back<{
      readonly sourceAmount: number;
      readonly sourceUnit: string;
      readonly targetAmount: number;
      readonly targetUnit: string;
      readonly answer: string;
    }>,
  ): unknown;
  getRecipeInformation(id: Id, opts: Options, back: Back<Titled>): unknown;
  getRecipeInformationBulk(ids: string, opts: Options, back: Back<Titled[]>): unknown;
  getSimilarRecipes(id: Id, opts: Options, back: Back<Titled[]>): unknown;
  parseIngredients(list: string, servings: number, opts: Options, back: Back<(Named & { readonly original: string })[]>): unknown;
  searchRecipes(
    query: string,
    opts: Options,
    back: Back<Page & { readonly results: Titled[]; readonly totalResults: number }>,
  ): unknown;
  searchRecipesByIngredients(
    list: string,
    opts: Options,
    back: Back<(Titled & { readonly usedIngredientCount: number })[]>,
  ): unknown;
  summarizeRecipe(id: Id, back: Back<Titled & { readonly summary: string }>): unknown;
}
interface Ingredients {
  computeIngredientAmount(
    id: Id,
    nutrient: string,
    target: number,
    opts: Options,
    back: Back<{ readonly amount: number; readonly unit: string }>,
  ): unknown;
  getIngredientInformation(
    id: Id,
    opts: Options,
    back: Back<Named & { readonly amount: number; readonly unit: string }>,
  ): unknown;
  getIngredientSubstitutes(name: string, back: Back<{ readonly ingredient: string; readonly substitutes: string[] }>): unknown;
  ingredientSearch(
    query: string,
    opts: Options,
    back: Back<Page & { readonly results: Named[]; readonly totalResults: number }>,
  ): unknown;
}
interface Products {
  getProductInformation(id: Id, back: Back<Titled>): unknown;
  searchGroceryProducts(
    query: string,
    opts: Options,
    back: Back<Page & { readonly products: Titled[]; readonly totalProducts: number }>,
  ): unknown;
}
interface Menus {
  getMenuItemInformation(id: Id, back: Back<Titled & { readonly restaurantChain: string }>): unknown;
  searchMenuItems(
    query: string,
    opts: Options,
    back: Back<Page & { readonly menuItems: (Titled & { readonly restaurantChain: string })[] }>,
  ): unknown;
}
interface Misc {
  detectFoodInText(
    text: string,
    back: Back<{ readonly annotations: { readonly annotation: string; readonly tag: string }[] }>,
  ): unknown;
  searchCustomFoods(
    query: string,
    username: string,
    hash: string,
    opts: Options,
    back: Back<Page & { readonly customFoods: Titled[] }>,
  ): unknown;
}
interface ApiClient {
  authentications: { apiKeyScheme: { apiKey?: string } };
}
interface Spoonacular {
  readonly ApiClient: new (base: string) => ApiClient;
  readonly MealPlanningApi: new (client: ApiClient) => Meals;
  readonly RecipesApi: new (client: ApiClient) => Recipes;
  readonly IngredientsApi: new (client: ApiClient) => Ingredients;
  readonly ProductsApi: new (client: ApiClient) => Products;
  readonly MenuItemsApi: new (client: ApiClient) => Menus;
  readonly MiscApi: new (client: ApiClient) => Misc;
}
const spoonacular = createRequire(import.meta.url)('spoonacular') as Spoonacular;

/** The client has a class for each part of the service; all have the key and the address of one ApiClient. */
const connect = (place: Place, token: string) => {
  const client = new spoonacular.ApiClient(place.url);
  client.authentications.apiKeyScheme.apiKey = token;
  return {
    meals: new spoonacular.MealPlanningApi(client),
    recipes: new spoonacular.RecipesApi(client),
    ingredients: new spoonacular.IngredientsApi(client),
    products: new spoonacular.ProductsApi(client),
    menus: new spoonacular.MenuItemsApi(client),
    misc: new spoonacular.MiscApi(client),
  };
};
type Client = ReturnType<typeof connect>;

/** The end of a call as a promise. */
const ask = <Data>(call: (back: Back<Data>) => unknown): Promise<Data> =>
  new Promise((resolve, reject) => {
    call((error, data) => (error ? reject(error) : resolve(data)));
  });

const ids = (rows: readonly { readonly id: number }[]): string[] => rows.map(({ id }) => String(given(id, 'id')));
const first = <Row>(rows: readonly Row[], what: string): Row => given(rows[0], what);

/** "Working with the meal planner": a user of ours is connected once, and has a name and a hash from then on. */
const user = async (api: Client, s: State): Promise<void> => {
  const asked = { username: 'jo', firstName: 'Jo', lastName: 'Doe', email: 'jo@example.com' };
  const connected = await ask<Connected>((back) => api.meals.connectUser(asked, back));
  s.name = given(connected.username, 'username');
  s.hash = given(connected.hash, 'hash');
};
const week = (api: Client, s: State): Promise<Week> =>
  ask((back) => api.meals.getMealPlanWeek(s.name, '2020-05-11', s.hash, back));
const planned = async (api: Client, s: State, date: number): Promise<Planned[]> =>
  (await week(api, s)).days.filter((day) => day.date === date).flatMap(({ items }) => items ?? []);
/** Monday and Friday of the week which begins on 2020-05-11. */
const monday = 1589155200;
const friday = 1589500800;
const banana = (date: number, slot: number) => ({
  date,
  slot,
  position: 0,
  type: 'INGREDIENTS',
  value: { ingredients: [{ name: '1 banana' }] },
});
const plan = (api: Client, s: State, item: object) => ask((back) => api.meals.addToMealPlan(s.name, s.hash, item, back));
const list = (api: Client, s: State): Promise<Shopping> => ask((back) => api.meals.getShoppingList(s.name, s.hash, back));
const put = (api: Client, s: State, item: string, aisle: string): Promise<Shopping> =>
  ask((back) => api.meals.addToShoppingList(s.name, s.hash, { item, aisle, parse: true }, back));
const inAisle = (shopping: Shopping, aisle: string) =>
  shopping.aisles.filter((one) => one.aisle === aisle).flatMap(({ items }) => items ?? []);

/** Guide: spoonacular.com/food-api/docs, "Connect User", "Meal Planning" (Add to Meal Plan, Get Meal Plan Week, Clear Meal Plan Day, Templates), "Shopping List", "Search Recipes", "Get Recipe Information", "Convert Amounts", "Parse Ingredients", "Ingredient Search", "Search Grocery Products", "Search Menu Items", "Authentication". */
export const vendor: Vendor<Client> = {
  document: 'spoonacular/spoonacular.com.json',
  header: 'x-api-key',
  made: '0123456789abcdef0123456789abcdef',
  client: connect,
  strict: ['a key that is refused'],
  flows: {
    'a banana in the meal plan': (api, s) => ({
      'connect the user': async () => {
        await user(api, s);
        assert.deepEqual([s.name.length > 0, s.hash.length > 0], [true, true]);
      },
      'plan it for Friday': async () => plan(api, s, banana(friday, 1)),
      'the week has it on Friday': async () => {
        const items = await planned(api, s, friday);
        const item = first(
          items.filter(({ slot, type }) => slot === 1 && type === 'INGREDIENTS'),
          'such item on Friday',
        );
        assert.equal(item.position, 0);
        s.id = String(given(item.id, 'id'));
      },
      'and not on Monday': async () => assert.ok(!ids(await planned(api, s, monday)).includes(s.id)),
      'take it out': async () => ask((back) => api.meals.deleteFromMealPlan(s.name, Number(s.id), s.hash, back)),
      'the week has it no more': async () => assert.ok(!ids(await planned(api, s, friday)).includes(s.id)),
      'it cannot be taken out twice': async () => {
        await refused(
          ask((back) => api.meals.deleteFromMealPlan(s.name, Number(s.id), s.hash, back)),
          404,
        );
      },
    }),
    'a recipe in the meal plan': (api, s) => ({
      'connect the user': async () => user(api, s),
      'plan it': async () =>
        plan(api, s, {
          date: friday,
          slot: 3,
          position: 0,
          type: 'RECIPE',
          value: { id: 296213, servings: 2, title: 'Spinach Salad with Roasted Vegetables', imageType: 'jpg', ingredients: [] },
        }),
      'the week has it for dinner': async () =>
        assert.deepEqual(
          (await planned(api, s, friday)).filter(({ type }) => type === 'RECIPE').map(({ slot }) => slot),
          [3],
        ),
    }),
    'a day of the meal plan is cleared': (api, s) => ({
      'connect the user': async () => user(api, s),
      'plan three': async () => {
        await plan(api, s, banana(friday, 1));
        await plan(api, s, banana(friday, 2));
        await plan(api, s, banana(monday, 1));
      },
      'two are for Friday': async () => assert.deepEqual((await planned(api, s, friday)).map(({ slot }) => slot).sort(), [1, 2]),
      'clear Friday': async () => ask((back) => api.meals.clearMealPlanDay(s.name, '2020-05-15', s.hash, back)),
      'nothing is left of it': async () => assert.deepEqual(await planned(api, s, friday), []),
      'Monday is as it was': async () =>
        assert.deepEqual(
          (await planned(api, s, monday)).map(({ slot }) => slot),
          [1],
        ),
    }),
    'a shopping list': (api, s) => ({
      'connect the user': async () => user(api, s),
      'add to it': async () => {
        const item = first(inAisle(await put(api, s, '1 package baking powder', 'Baking'), 'Baking'), 'item in the aisle');
        assert.ok('1 package baking powder'.includes(item.name), item.name);
        s.id = String(given(item.id, 'id'));
      },
      'it has it': async () => {
        const shopping = await list(api, s);
        once(ids(inAisle(shopping, 'Baking')), [s.id]);
        assert.equal(typeof shopping.cost, 'number');
      },
      'take it from it': async () => ask((back) => api.meals.deleteFromShoppingList(s.name, Number(s.id), s.hash, back)),
      'it has it no more': async () =>
        assert.ok(!ids((await list(api, s)).aisles.flatMap(({ items }) => items ?? [])).includes(s.id)),
      'it cannot be taken twice': async () => {
        await refused(
          ask((back) => api.meals.deleteFromShoppingList(s.name, Number(s.id), s.hash, back)),
          404,
        );
      },
    }),
    'a shopping list of two aisles': (api, s) => ({
      'connect the user': async () => user(api, s),
      'add to both': async () => {
        await put(api, s, '1 package baking powder', 'Baking');
        await put(api, s, '4 apples', 'Produce');
      },
      'each is in its own': async () => {
        const shopping = await list(api, s);
        assert.deepEqual([inAisle(shopping, 'Baking').length, inAisle(shopping, 'Produce').length], [1, 1]);
        assert.ok(shopping.aisles.every(({ aisle, items }) => (items ?? []).every((item) => item.aisle === aisle)));
        s.id = String(given(inAisle(shopping, 'Produce')[0]?.id, 'id'));
      },
      'take the apples from it': async () => ask((back) => api.meals.deleteFromShoppingList(s.name, Number(s.id), s.hash, back)),
      'the other is left': async () => {
        const shopping = await list(api, s);
        assert.deepEqual([inAisle(shopping, 'Baking').length, inAisle(shopping, 'Produce').length], [1, 0]);
      },
    }),
    'a shopping list of what is planned': (api, s) => ({
      'connect the user': async () => user(api, s),
      'plan a banana': async () => plan(api, s, banana(friday, 1)),
      'make the list of that week': async () => {
        const shopping = await ask<Shopping>((back) =>
          api.meals.generateShoppingList(s.name, '2020-05-11', '2020-05-17', s.hash, back),
        );
        assert.ok(Array.isArray(shopping.aisles));
        assert.deepEqual(
          [typeof shopping.cost, typeof shopping.startDate, typeof shopping.endDate],
          ['number', 'number', 'number'],
        );
        s.items = ids(shopping.aisles.flatMap(({ items }) => items ?? []))
          .sort()
          .join();
      },
      'it is the current one': async () =>
        assert.equal(
          ids((await list(api, s)).aisles.flatMap(({ items }) => items ?? []))
            .sort()
            .join(),
          s.items,
        ),
    }),
    'templates of meal plans': (api, s) => ({
      'connect the user': async () => user(api, s),
      'the list, and each by its id': async () => {
        const { templates } = await ask<{ templates: Named[] }>((back) => api.meals.getMealPlanTemplates(s.name, s.hash, back));
        for (const { id, name } of templates.slice(0, 2)) {
          const template = await ask<Named & { days: unknown[] }>((back) =>
            api.meals.getMealPlanTemplate(s.name, id, s.hash, back),
          );
          assert.deepEqual([template.id, template.name, Array.isArray(template.days)], [id, name, true]);
        }
      },
      'one that nobody made': async () => {
        await refused(
          ask((back) => api.meals.getMealPlanTemplate(s.name, 99999999, s.hash, back)),
          404,
        );
      },
      'nor can it be deleted': async () => {
        await refused(
          ask((back) => api.meals.deleteMealPlanTemplate(s.name, 99999999, s.hash, back)),
          404,
        );
      },
    }),
    'a plan for a day is made up': (api) => ({
      'three meals': async () => {
        const { meals, nutrients } = await ask<{ meals: Titled[]; nutrients: Record<string, number> }>((back) =>
          api.meals.generateMealPlan({ timeFrame: 'day', targetCalories: 2000, diet: 'vegetarian' }, back),
        );
        assert.ok(meals.every(({ id, title }) => Number.isInteger(id) && title.length > 0));
        assert.deepEqual(
          ['calories', 'carbohydrates', 'fat', 'protein'].map((name) => typeof nutrients[name]),
          ['number', 'number', 'number', 'number'],
        );
      },
    }),
    'recipes through pages': (api, s) => ({
      'two from the first': async () => {
        const page = await ask<Page & { results: Titled[]; totalResults: number }>((back) =>
          api.recipes.searchRecipes('pasta', { number: 2, offset: 0 }, back),
        );
        assert.deepEqual([page.offset, page.number], [0, 2]);
        assert.ok(page.results.length <= 2 && page.totalResults >= page.results.length);
        s.first = ids(page.results).join();
        s.total = String(page.totalResults);
      },
      'two after them': async () => {
        const page = await ask<Page & { results: Titled[]; totalResults: number }>((back) =>
          api.recipes.searchRecipes('pasta', { number: 2, offset: 2 }, back),
        );
        assert.deepEqual([page.offset, page.number, String(page.totalResults)], [2, 2, s.total]);
        assert.ok(page.results.length <= 2);
        assert.ok(
          ids(page.results).every((id) => !s.first.split(',').includes(id)),
          'a recipe is on two pages',
        );
      },
      'no more than asked, by ingredients': async () => {
        const rows = await ask<Titled[]>((back) =>
          api.recipes.searchRecipesByIngredients('apples,flour,sugar', { number: 2, ranking: 1 }, back),
        );
        assert.ok(rows.length <= 2, `${rows.length} recipes`);
      },
      'no more than asked, by how they begin': async () => {
        const rows = await ask<Titled[]>((back) => api.recipes.autocompleteRecipeSearch('chick', { number: 3 }, back));
        assert.ok(rows.length <= 3, `${rows.length} recipes`);
      },
    }),
    'a recipe that was found': (api, s) => ({
      'find one': async () => {
        const { results } = await ask<Page & { results: Titled[]; totalResults: number }>((back) =>
          api.recipes.searchRecipes('', { number: 1 }, back),
        );
        const { id, title } = first(results, 'recipe at all');
        s.id = String(given(id, 'id'));
        s.title = title;
      },
      'all about it': async () => {
        const recipe = await ask<Titled>((back) =>
          api.recipes.getRecipeInformation(Number(s.id), { includeNutrition: false }, back),
        );
        assert.deepEqual([String(recipe.id), recipe.title], [s.id, s.title]);
      },
      'in short': async () => {
        const recipe = await ask<Titled & { summary: string }>((back) => api.recipes.summarizeRecipe(Number(s.id), back));
        assert.deepEqual([String(recipe.id), recipe.title, recipe.summary.length > 0], [s.id, s.title, true]);
      },
      'among many': async () => {
        const rows = await ask<Titled[]>((back) => api.recipes.getRecipeInformationBulk(s.id, {}, back));
        assert.deepEqual(ids(rows), [s.id]);
      },
      'what is like it': async () => {
        const rows = await ask<Titled[]>((back) => api.recipes.getSimilarRecipes(Number(s.id), { number: 2 }, back));
        assert.ok(rows.length <= 2 && !ids(rows).includes(s.id));
      },
    }),
    ingredients: (api, s) => ({
      'find one': async () => {
        const page = await ask<Page & { results: Named[] }>((back) =>
          api.ingredients.ingredientSearch('banana', { number: 1, offset: 0 }, back),
        );
        assert.deepEqual([page.offset, page.number], [0, 1]);
        assert.ok(page.results.length <= 1);
        s.found = ids(page.results).join();
      },
      'all about 150 grams of what was found': async () => {
        for (const id of s.found.split(',').filter(Boolean)) {
          const one = await ask<Named & { amount: number; unit: string }>((back) =>
            api.ingredients.getIngredientInformation(Number(id), { amount: 150, unit: 'grams' }, back),
          );
          assert.deepEqual([String(one.id), one.amount, one.unit], [id, 150, 'grams']);
        }
      },
      'how much of it has 2 grams of protein': async () => {
        for (const id of s.found.split(',').filter(Boolean)) {
          const { amount, unit } = await ask<{ amount: number; unit: string }>((back) =>
            api.ingredients.computeIngredientAmount(Number(id), 'protein', 2, { unit: 'oz' }, back),
          );
          assert.deepEqual([typeof amount, unit], ['number', 'oz']);
        }
      },
      'what is as good': async () => {
        const { ingredient, substitutes } = await ask<{ ingredient: string; substitutes: string[] }>((back) =>
          api.ingredients.getIngredientSubstitutes('butter', back),
        );
        assert.deepEqual([ingredient, Array.isArray(substitutes)], ['butter', true]);
      },
    }),
    'products and menu items': (api, s) => ({
      'find a product': async () => {
        const page = await ask<Page & { products: Titled[] }>((back) =>
          api.products.searchGroceryProducts('pizza', { number: 1, offset: 0 }, back),
        );
        assert.deepEqual([page.offset, page.number], [0, 1]);
        assert.ok(page.products.length <= 1);
        s.products = ids(page.products).join();
        s.title = page.products.map(({ title }) => title).join();
      },
      'all about what was found': async () => {
        for (const id of s.products.split(',').filter(Boolean)) {
          const one = await ask<Titled>((back) => api.products.getProductInformation(Number(id), back));
          assert.deepEqual([String(one.id), one.title], [id, s.title]);
        }
      },
      'find a menu item': async () => {
        const page = await ask<Page & { menuItems: (Titled & { restaurantChain: string })[] }>((back) =>
          api.menus.searchMenuItems('burger', { number: 1, offset: 0 }, back),
        );
        assert.deepEqual([page.offset, page.number], [0, 1]);
        assert.ok(page.menuItems.length <= 1);
        s.items = ids(page.menuItems).join();
        s.chain = page.menuItems.map(({ restaurantChain }) => restaurantChain).join();
      },
      'all about that': async () => {
        for (const id of s.items.split(',').filter(Boolean)) {
          const one = await ask<Titled & { restaurantChain: string }>((back) =>
            api.menus.getMenuItemInformation(Number(id), back),
          );
          assert.deepEqual([String(one.id), one.restaurantChain], [id, s.chain]);
        }
      },
    }),
    'amounts and texts': (api) => ({
      'cups of flour are grams': async () => {
        const answer = await ask<{ sourceAmount: number; sourceUnit: string; targetUnit: string; targetAmount: number }>((back) =>
          api.recipes.convertAmounts('flour', 2.5, 'cups', 'grams', back as never),
        );
        assert.deepEqual([answer.sourceAmount, answer.sourceUnit, answer.targetUnit], [2.5, 'cups', 'grams']);
        assert.equal(typeof answer.targetAmount, 'number');
      },
      'two lines are two ingredients': async () => {
        const rows = await ask<{ original: string }[]>((back) =>
          api.recipes.parseIngredients('3 oz flour\n1 cup sugar', 2, { includeNutrition: false }, back as never),
        );
        assert.deepEqual(
          rows.map(({ original }) => original),
          ['3 oz flour', '1 cup sugar'],
        );
      },
      'from where a dish is': async () => {
        const { cuisine, cuisines, confidence } = await ask<{ cuisine: string; cuisines: string[]; confidence: number }>((back) =>
          api.recipes.classifyCuisine('Pork roast with green beans', '3 oz pork shoulder', {}, back),
        );
        assert.deepEqual([typeof cuisine, Array.isArray(cuisines), typeof confidence], ['string', true, 'number']);
      },
      'food in a text': async () => {
        const { annotations } = await ask<{ annotations: { annotation: string }[] }>((back) =>
          api.misc.detectFoodInText('I like to eat delicious tacos.', back as never),
        );
        assert.ok(annotations.every(({ annotation }) => 'I like to eat delicious tacos.'.includes(annotation)));
      },
    }),
    'foods of their own': (api, s) => ({
      'connect the user': async () => user(api, s),
      'no more than asked': async () => {
        const page = await ask<Page & { customFoods: Titled[] }>((back) =>
          api.misc.searchCustomFoods('', s.name, s.hash, { number: 5, offset: 0 }, back),
        );
        assert.deepEqual([page.offset, page.number], [0, 5]);
        assert.ok(page.customFoods.length <= 5);
      },
    }),
    'a key that is refused': (_api, _s, another) => ({
      refused: async () => {
        await refused(
          ask((back) => another('nobody').recipes.searchRecipes('pasta', { number: 1 }, back)),
          401,
        );
      },
      'nor may it connect anybody': async () => {
        await refused(
          ask((back) =>
            another('nobody').meals.connectUser({ username: 'x', firstName: 'X', lastName: 'Y', email: 'x@example.com' }, back),
          ),
          401,
        );
      },
    }),
    'what there is not': (api) => ({
      'a recipe': async () => {
        await refused(
          ask((back) => api.recipes.getRecipeInformation(999999999, {}, back)),
          404,
        );
      },
      'a product': async () => {
        await refused(
          ask((back) => api.products.getProductInformation(999999999, back)),
          404,
        );
      },
      'a menu item': async () => {
        await refused(
          ask((back) => api.menus.getMenuItemInformation(999999999, back)),
          404,
        );
      },
    }),
  },
};
